#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace tutti::io {

/// Scans a line from left to right. Each take_… function either consumes its token or consumes nothing and
/// returns false.
class TextScanner {
  public:
    explicit TextScanner(std::string_view text) : rest_(text) {}

    [[nodiscard]] std::string_view rest() const { return rest_; }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

    [[nodiscard]] bool take(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    /// Decimal digits without a sign that fit the type.
    template <class Integer>
    [[nodiscard]] bool take_number(Integer& number) {
        if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return false;
        Integer value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        number = value;
        return true;
    }
    /// A number without a sign, perhaps with decimals and an exponent, in units of 10^-18; further decimals
    /// are dropped. At most 9 whole units.
    [[nodiscard]] bool take_decimal(std::int64_t& units);

  private:
    std::string_view rest_;
};

}  // namespace tutti::io
