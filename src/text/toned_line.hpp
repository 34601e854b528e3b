#pragma once

#include <string>
#include <vector>

namespace tutti::text {

/// What a line of a table means; the printer chooses the colour.
enum class LineTone { Plain, Head, Good, Bad };

/// Without the newline.
struct TonedLine {
    std::string text;
    LineTone tone = LineTone::Plain;
};

/// The lines of a Table before its first row.
inline constexpr std::size_t kTableHead = 2;

/// The lines of a Table, its heads marked.
[[nodiscard]] inline std::vector<TonedLine> toned_lines(const std::string& table) {
    std::vector<TonedLine> lines;
    for (std::size_t begin = 0; begin < table.size();) {
        const std::size_t end = table.find('\n', begin);
        lines.push_back({table.substr(begin, end - begin), lines.empty() ? LineTone::Head : LineTone::Plain});
        begin = end + 1;
    }
    return lines;
}

}  // namespace tutti::text
