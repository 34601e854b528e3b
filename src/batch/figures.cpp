#include "batch/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::batch {

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
    constexpr std::array<std::string_view, 5> kNames{"ps", "ns", "us", "ms", "s"};
    auto value = static_cast<double>(ticks.count());
    std::size_t name = 0;
    for (; value >= 1000 && name + 1 < kNames.size(); ++name) value /= 1000;
    return fmt::format("{} ({:.6g} {})", text, value, kNames[name]);
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

std::size_t width_of(std::string_view utf8) {
    return static_cast<std::size_t>(
        std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace tutti::batch
