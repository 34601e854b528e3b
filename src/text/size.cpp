#include "text/size.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tutti::text {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr auto kMost = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());

/// The power of two that a unit stands for.
std::optional<int> shift_of(std::string_view unit) {
    constexpr std::string_view kPrefixes = "kmgtp";
    const auto is = [](char c, char small) {
        return c == small || c == static_cast<char>(small - 'a' + 'A');
    };
    if (unit.empty() || (unit.size() == 1 && is(unit[0], 'b'))) return 0;
    const auto prefix = std::ranges::find_if(kPrefixes, [&](char small) { return is(unit[0], small); });
    if (prefix == kPrefixes.end()) return std::nullopt;
    const std::string_view rest = unit.substr(1);
    const bool is_known = rest.empty() || (rest.size() == 1 && is(rest[0], 'b')) ||
                          (rest.size() == 2 && is(rest[0], 'i') && is(rest[1], 'b'));
    if (!is_known) return std::nullopt;
    return 10 * static_cast<int>(prefix - kPrefixes.begin() + 1);
}

/// The bytes that the digits behind a point are: (0.)75 of 2^10 is 768. Nothing if they are not whole.
std::optional<std::uint64_t> bytes_of_decimals(std::string_view digits, int shift) {
    constexpr std::size_t kMostDigits = 18;
    if (digits.empty() || digits.find('.') != digits.npos) return std::nullopt;
    digits = digits.substr(0, digits.find_last_not_of('0') + 1);
    if (digits.size() > kMostDigits) return std::nullopt;
    Wide numerator = 0, denominator = 1;
    for (const char digit : digits) {
        numerator = 10 * numerator + static_cast<unsigned>(digit - '0');
        denominator *= 10;
    }
    numerator <<= shift;
    if (numerator % denominator != 0) return std::nullopt;
    return static_cast<std::uint64_t>(numerator / denominator);
}

}  // namespace

std::optional<std::int64_t> size_in(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789.";
    const std::size_t end = std::min(text.find_first_not_of(kDigits), text.size());
    const std::string_view number = text.substr(0, end);
    std::string_view unit = text.substr(end);
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    const auto shift = shift_of(unit);
    std::uint64_t whole = 0;
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
    if (!shift || error != std::errc()) return std::nullopt;
    Wide bytes = static_cast<Wide>(whole) << *shift;
    if (const std::size_t point = number.find('.'); point != number.npos) {
        const auto decimals = bytes_of_decimals(number.substr(point + 1), *shift);
        if (!decimals) return std::nullopt;
        bytes += *decimals;
    }
    if (bytes > kMost) return std::nullopt;
    return static_cast<std::int64_t>(bytes);
}

}  // namespace tutti::text
