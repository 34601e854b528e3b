#pragma once

#include "io/xml_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace tutti::io {

/// The known attributes of an element, found in one pass over all its attributes. Elements of one file nearly
/// always list them in the same order, so each is first searched at its position in the previous element.
template <std::size_t N>
class XmlAttributes {
  public:
    XmlAttributes(const XmlDocument& document, const std::array<const char*, N>& names)
        : document_(document), names_(names) {}

    void read(pugi::xml_node element) {
        element_ = element;
        values_.fill(nullptr);
        std::size_t position = 0;
        for (auto attribute = element.first_attribute(); attribute; attribute = attribute.next_attribute()) {
            std::size_t& known = last_[std::min(position++, last_.size() - 1)];
            if (known >= N || std::strcmp(names_[known], attribute.name()) != 0)
                known = find(attribute.name());
            if (known < N) values_[known] = attribute.value();
        }
    }

    /// Its text; nullptr where the element lacks it.
    [[nodiscard]] const char* text(std::size_t attribute) const { return values_[attribute]; }
    [[nodiscard]] std::string_view required(std::size_t attribute) const {
        if (values_[attribute] == nullptr) {
            document_.fail("missing-attribute",
                           fmt::format("<{}> lacks its attribute {}", element_.name(), names_[attribute]),
                           element_);
        }
        return values_[attribute];
    }

    /// A decimal integer in [least, most].
    template <class Integer = std::int32_t>
    [[nodiscard]] Integer integer(std::size_t attribute, Integer least,
                                  Integer most = std::numeric_limits<Integer>::max()) const {
        const std::string_view digits = required(attribute);
        Integer value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size() || value < least || value > most)
            refuse("bad-integer", attribute, fmt::format("a decimal integer from {} to {}", least, most));
        return value;
    }
    template <class Integer = std::int32_t>
    [[nodiscard]] Integer integer_or(std::size_t attribute, Integer otherwise, Integer least,
                                     Integer most = std::numeric_limits<Integer>::max()) const {
        return values_[attribute] == nullptr ? otherwise : integer<Integer>(attribute, least, most);
    }
    template <class Integer = std::int32_t>
    [[nodiscard]] std::optional<Integer> optional_integer(
        std::size_t attribute, Integer least, Integer most = std::numeric_limits<Integer>::max()) const {
        if (values_[attribute] == nullptr) return std::nullopt;
        return integer<Integer>(attribute, least, most);
    }
    /// 0 or 1.
    [[nodiscard]] bool flag(std::size_t attribute) const { return integer(attribute, 0, 1) == 1; }

    [[noreturn]] void refuse(const char* code, std::size_t attribute, const std::string& expectation) const {
        constexpr std::size_t kShown = 40;
        const std::string_view found = values_[attribute];
        document_.fail(
            code,
            fmt::format("{} of <{}>: expected {}, found \"{}\"{}", names_[attribute], element_.name(),
                        expectation, found.substr(0, kShown), found.size() > kShown ? "…" : ""),
            element_);
    }

  private:
    [[nodiscard]] std::size_t find(const char* name) const {
        std::size_t known = 0;
        while (known < N && std::strcmp(names_[known], name) != 0) ++known;
        return known;
    }

    static constexpr std::size_t kPositions = 24;

    const XmlDocument& document_;
    const std::array<const char*, N>& names_;
    pugi::xml_node element_;
    std::array<const char*, N> values_{};
    std::array<std::size_t, kPositions> last_{};  ///< which attribute stood at each position
};

}  // namespace tutti::io
