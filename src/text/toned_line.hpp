#pragma once

#include "text/terminal_codes.hpp"

#include <string>
#include <vector>

namespace tutti::text {

/// A line without its newline, and what it means; whoever prints it decides whether there are colours.
struct TonedLine {
    SafeText text;
    Tone tone = Tone::Plain;
};

/// The lines of a Table before its first row.
inline constexpr std::size_t kTableHead = 2;

/// The lines of a Table, its heads marked.
[[nodiscard]] inline std::vector<TonedLine> toned_lines(const SafeText& table) {
    std::vector<TonedLine> lines;
    const std::string& text = table.str();
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back({text.substr(begin, end - begin), lines.empty() ? Tone::Strong : Tone::Plain});
        begin = end + 1;
    }
    return lines;
}

}  // namespace tutti::text
