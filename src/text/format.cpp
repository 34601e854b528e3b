#include "text/format.hpp"

#include "text/escape.hpp"
#include "text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::text {
namespace {

/// East Asian characters and pictures take two columns. The ranges are those of Unicode's EastAsianWidth.txt,
/// coarsely: one too many leaves a gap, one too few breaks a line.
bool is_wide(std::uint32_t code) {
    return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
           (code >= 0xA960 && code <= 0xA97F) || (code >= 0xAC00 && code <= 0xD7A3) ||
           (code >= 0xF900 && code <= 0xFAFF) || (code >= 0xFE30 && code <= 0xFE6F) ||
           (code >= 0xFF00 && code <= 0xFF60) || (code >= 0xFFE0 && code <= 0xFFE6) ||
           (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
}

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
    // Only a gap of 0 may print as zero.
    if (*gap > 0 && *gap < 0.0005) return "<0.1 %";
    return fmt::format("{:.1f} %", *gap * 100);
}

std::string seconds_text(double seconds) { return fmt::format("{:.3f}", seconds); }

std::string ticks_text(Ticks ticks, Units units) {
    const std::string text = count_text(static_cast<std::uint64_t>(ticks.count()), "tick");
    if (units == Units::Abstract || ticks == Ticks(0)) return text;
    return fmt::format("{} ({})", text, time_text(ticks, units, 6));
}

std::string time_text(Ticks ticks, Units units, int digits) {
    if (units == Units::Abstract) return std::to_string(ticks.count());
    constexpr std::array<std::string_view, 5> kNames{"ps", "ns", "us", "ms", "s"};
    auto value = static_cast<double>(ticks.count());
    std::size_t name = 0;
    for (; value >= 1000 && name + 1 < kNames.size(); ++name) value /= 1000;
    return fmt::format("{:.{}g} {}", value, digits, kNames[name]);
}

std::string memory_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 7> kNames{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t name = 0;
    // Four digits would be written with an exponent.
    for (; value >= 999.5 && name + 1 < kNames.size(); ++name) value /= 1024;
    return fmt::format("{:.3g} {}", value, kNames[name]);
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t kKi = 1024;
    if (bytes >= kKi * kKi * kKi)
        return fmt::format("{:.4g} GiB", static_cast<double>(bytes) / (kKi * kKi * kKi));
    if (bytes >= kKi * kKi) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (kKi * kKi));
    return fmt::format("{} bytes", bytes);
}

std::string call_size_text(std::uint64_t bytes) {
    constexpr std::string_view kLetters = "KMGTP";
    std::string letter;
    for (std::size_t i = 0; i < kLetters.size() && bytes > 0 && bytes % 1024 == 0; ++i) {
        bytes /= 1024;
        letter = kLetters[i];
    }
    return std::to_string(bytes) + letter;
}

std::string bandwidth_text(const std::optional<double>& GBps) {
    return GBps ? fmt::format("{:.3f} GB/s", *GBps) : "-";
}

std::string bandwidth_cell(const std::optional<double>& GBps) {
    if (!GBps) return "-";
    const int decimals = *GBps < 9.995 ? 2 : *GBps < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}", *GBps, decimals);
}

std::string count_text(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shell_word(const std::string& text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

std::string skipped_text(std::span<const SkippedBound> skipped) {
    std::string text;
    for (std::size_t i = 0; i < skipped.size(); ++i) {
        const bool same_reason = i > 0 && skipped[i].why == skipped[i - 1].why;
        if (i > 0) text += same_reason ? ", " : "; ";
        text += skipped[i].kind;
        const bool is_last = i + 1 == skipped.size() || skipped[i + 1].why != skipped[i].why;
        if (is_last) text += ": " + skipped[i].why;
    }
    return text;
}

std::string shortened(std::string_view utf8, std::size_t most_bytes) {
    std::size_t bytes = std::min(utf8.size(), most_bytes);
    while (bytes > 0 && bytes < utf8.size() && (static_cast<unsigned char>(utf8[bytes]) & 0xC0U) == 0x80U)
        --bytes;
    return std::string(utf8.substr(0, bytes));
}

std::string input_name(const std::string& file) { return file == "-" ? "standard input" : file; }

std::string file_name_of(std::string_view name) {
    constexpr std::size_t kLongest = 200;
    constexpr std::string_view kSpecial = " /\\:*?\"<>|'`$&;!";
    const std::string cut = shortened(name, kLongest);
    std::string text;
    for (std::string_view rest = cut; !rest.empty();) {
        const std::string_view character = first_character(rest).bytes;
        const bool is_plain =
            printable(character) == character && kSpecial.find(character) == std::string_view::npos;
        text += is_plain ? character : "_";
        rest.remove_prefix(character.size());
    }
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
    // Equal except for leading zeros: any order, but always the same.
    if (a.empty() && b.empty()) return whole_a < whole_b;
    return a.empty();
}

std::size_t width_of(std::string_view utf8) {
    std::size_t width = 0;
    while (!utf8.empty()) {
        const Character character = first_character(utf8);
        width += character.valid && is_wide(character.code) ? 2U : 1U;
        utf8.remove_prefix(character.bytes.size());
    }
    return width;
}

}  // namespace tutti::text
