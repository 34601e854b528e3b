#include "batch/figures.hpp"

#include "io/time_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::batch {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes a number off the front, without leading zeros.
std::string_view take_number(std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    std::string_view number(text.begin(), end);
    text.remove_prefix(number.size());
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

}  // namespace

std::string gap_text(std::optional<double> gap) {
    if (!gap) return "-";
    // A gap that rounds to nothing is still a gap: only 0 may print as zero.
    if (*gap > 0 && *gap < 0.0005) return "<0.1 %";
    return fmt::format("{:.1f} %", *gap * 100);
}

std::string seconds_text(double seconds) { return fmt::format("{:.3f}", seconds); }

std::string ticks_text(Ticks ticks, Units units) {
    const std::string text = count_text(static_cast<std::uint64_t>(ticks.count()), "tick");
    if (units == Units::Abstract || ticks == Ticks(0)) return text;
    return fmt::format("{} ({})", text, io::time_text(ticks, units, 6));
}

std::string time_text(Ticks ticks, Units units) { return io::time_text(ticks, units); }

std::string memory_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> kNames{"B", "kB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t name = 0;
    for (; value >= 999.5 && name + 1 < kNames.size(); ++name) value /= 1000;
    return fmt::format("{:.3g} {}", value, kNames[name]);
}

std::string count_text(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string file_name_of(std::string_view name) {
    constexpr std::size_t kLongest = 200;
    std::string text(name.substr(0, kLongest));
    std::ranges::replace_if(
        text,
        [](char c) {
            return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
                   std::string_view("/\\:*?\"<>|'`$&;!").find(c) != std::string_view::npos;
        },
        '_');
    // Hidden files and options are no places for results.
    if (text.empty() || text.front() == '.' || text.front() == '-') text.insert(0, "_");
    return text;
}

bool natural_before(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a, whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view m = take_number(a), n = take_number(b);
            if (m.size() != n.size()) return m.size() < n.size();
            if (m != n) return m < n;
            continue;
        }
        if (a.front() != b.front()) return a.front() < b.front();
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    // Equal but for zeros in front of numbers: any order, but always the same.
    if (a.empty() && b.empty()) return whole_a < whole_b;
    return a.empty();
}

std::size_t width_of(std::string_view utf8) {
    return static_cast<std::size_t>(
        std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace tutti::batch
