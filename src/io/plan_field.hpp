#pragma once

#include "core/expects.hpp"
#include "io/json_text.hpp"
#include "plan/plan_error.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::io {

/// JsonView's accessors for readers of plans: a failure is a PlanError with the code of the access.
class PlanField {
  public:
    explicit PlanField(JsonView view) : view_(std::move(view)) {}

    [[nodiscard]] const JsonView& view() const { return view_; }
    [[nodiscard]] const Json& json() const { return view_.json(); }
    [[nodiscard]] PlanField at(std::string_view name) const {
        expect_object();
        return PlanField(coded("missing-key", [&] { return view_.at(name); }));
    }
    /// Nothing if missing or null.
    [[nodiscard]] std::optional<PlanField> find(std::string_view name) const {
        expect_object();
        const auto found = view_.find(name);
        return found && !found->json().is_null() ? std::optional(PlanField(*found)) : std::nullopt;
    }
    [[nodiscard]] std::vector<std::pair<std::string, PlanField>> fields() const {
        expect_object();
        std::vector<std::pair<std::string, PlanField>> result;
        for (auto& [name, view] : view_.fields()) result.emplace_back(name, PlanField(std::move(view)));
        return result;
    }
    [[nodiscard]] std::size_t size() const {
        return coded("bad-value", [&] { return view_.size(); });
    }
    /// Precondition: index < size().
    [[nodiscard]] PlanField operator[](std::size_t index) const {
        expects(index < json().size());
        return PlanField(view_[index]);
    }
    [[nodiscard]] std::int64_t integer(std::int64_t least,
                                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
        return coded("bad-integer", [&] { return view_.integer(least, most); });
    }
    /// The integer at `index`; its path is built only for an error. Precondition: as above.
    [[nodiscard]] std::int64_t integer_at(std::size_t index, std::int64_t least, std::int64_t most) const {
        expects(index < json().size());
        const Json& element = json()[index];
        if (element.is_number_unsigned()) {
            const auto value = element.get<std::uint64_t>();
            const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
            const auto signed_value = static_cast<std::int64_t>(value);
            if (fits && signed_value >= least && signed_value <= most) return signed_value;
        }
        return (*this)[index].integer(least, most);
    }
    [[nodiscard]] double number(double least, double most) const {
        return coded("bad-value", [&] { return view_.number(least, most); });
    }
    [[nodiscard]] std::string string() const {
        return coded("bad-value", [&] { return view_.string(); });
    }
    [[noreturn]] void fail(const char* code, const std::string& message) const {
        throw plan::PlanError(code, message, view_.path().empty() ? "/" : view_.path());
    }

  private:
    template <typename Question>
    static auto coded(const char* code, Question question) -> decltype(question()) {
        try {
            return question();
        } catch (const InputError& error) {
            throw plan::PlanError(code, error.message(), error.place());
        }
    }
    void expect_object() const {
        if (view_.is_object()) return;
        coded("bad-value", [&]() -> int { view_.fail_expecting("an object"); });
    }

    JsonView view_;
};

/// Plans are read into memory; larger files would take gigabytes.
inline constexpr JsonLimits kPlanJsonLimits{std::uint64_t{1} << 28U, std::size_t{1} << 23U};

/// Parses the JSON of a plan and reads it; every failure is a PlanError that names the file.
template <typename Reader>
[[nodiscard]] auto read_plan_json(Source& source, Reader reader)
    -> decltype(reader(PlanField(JsonView({})))) {
    Json json;
    try {
        json = parse_json(source, kPlanJsonLimits);
    } catch (const InputError& error) {
        const bool large = error.message().starts_with("expected at most");
        throw plan::PlanError(large ? "too-large" : "json", error.message(), error.place(), source.name());
    }
    try {
        return reader(PlanField(JsonView(json)));
    } catch (const plan::PlanError& error) {
        throw plan::PlanError(error.code(), error.message(), error.place(), source.name());
    }
}

}  // namespace tutti::io
