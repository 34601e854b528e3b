#include "io/text_scanner.hpp"

#include <algorithm>

namespace tutti::io {
namespace {

constexpr int kDecimals = 18;
/// Larger exponents are rejected: no schedule has such numbers.
constexpr int kMostExponent = 400;

bool is_digit(char ch) { return ch >= '0' && ch <= '9'; }

}  // namespace

bool TextScanner::take_decimal(std::int64_t& units) {
    // The digits before the exponent, and the position of the point among them.
    std::size_t at = 0;
    const auto skip_digits = [&] {
        const std::size_t begin = at;
        while (at < rest_.size() && is_digit(rest_[at])) ++at;
        return at > begin;
    };
    if (!skip_digits()) return false;
    const std::size_t whole = at;
    std::string_view decimals;
    if (at < rest_.size() && rest_[at] == '.') {
        const std::size_t begin = ++at;
        if (!skip_digits()) return false;
        decimals = rest_.substr(begin, at - begin);
    }
    int exponent = 0;
    if (at + 1 < rest_.size() && rest_[at] == 'e') {
        const char sign = rest_[at + 1];
        const std::size_t begin = at + (sign == '-' || sign == '+' ? 2 : 1);
        const auto [end, error] =
            std::from_chars(rest_.data() + begin, rest_.data() + rest_.size(), exponent);
        if (error != std::errc{} || exponent < 0 || exponent > kMostExponent || !is_digit(rest_[begin]))
            return false;
        at = static_cast<std::size_t>(end - rest_.data());
        if (sign == '-') exponent = -exponent;
    }
    // Digit i of whole + decimals counts 10^(whole - 1 - i + exponent).
    constexpr std::uint64_t kMost = 9'000'000'000'000'000'000U;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < whole + decimals.size(); ++i) {
        const auto digit = static_cast<std::uint64_t>((i < whole ? rest_[i] : decimals[i - whole]) - '0');
        const std::int64_t power =
            static_cast<std::int64_t>(whole) - 1 - static_cast<std::int64_t>(i) + exponent;
        if (digit == 0 || power < -kDecimals) continue;
        if (power > 0) return false;
        std::uint64_t unit = 1;
        for (std::int64_t p = -kDecimals; p < power; ++p) unit *= 10;
        value += digit * unit;
        if (value > kMost) return false;
    }
    rest_.remove_prefix(at);
    units = static_cast<std::int64_t>(value);
    return true;
}

}  // namespace tutti::io
