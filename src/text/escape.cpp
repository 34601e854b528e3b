#include "text/escape.hpp"

#include "text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tutti::text {
namespace {

struct Range {
    std::uint32_t first, last;
};

/// Cc, Cf, Zl and Zp of Unicode 15 beyond ASCII, and what is no character. Tags are taken whole.
constexpr std::array kHidden{Range{0x80, 0x9F},       Range{0xAD, 0xAD},       Range{0x600, 0x605},
                             Range{0x61C, 0x61C},     Range{0x6DD, 0x6DD},     Range{0x70F, 0x70F},
                             Range{0x890, 0x891},     Range{0x8E2, 0x8E2},     Range{0x180E, 0x180E},
                             Range{0x200B, 0x200F},   Range{0x2028, 0x202E},   Range{0x2060, 0x206F},
                             Range{0xFDD0, 0xFDEF},   Range{0xFEFF, 0xFEFF},   Range{0xFFF0, 0xFFFB},
                             Range{0x110BD, 0x110BD}, Range{0x110CD, 0x110CD}, Range{0x13430, 0x1343F},
                             Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF}};

bool is_ascii_control(std::uint32_t code) { return code < ' ' || code == 0x7F; }

bool is_shown(const Character& character) {
    if (!character.valid || is_ascii_control(character.code)) return false;
    if (character.code < 0x80) return true;
    if ((character.code & 0xFFFEU) == 0xFFFEU) return false;
    return std::ranges::none_of(kHidden, [&](const Range& range) {
        return character.code >= range.first && character.code <= range.last;
    });
}

/// The text, with `write(character)` in place of what is not shown. A run of ASCII costs a comparison a byte.
template <class Write>
std::string escaped(std::string_view text, const Write& write) {
    std::string safe;
    safe.reserve(text.size());
    while (!text.empty()) {
        const auto end = std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; });
        safe.append(text.begin(), end);
        text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
        if (text.empty()) break;
        const Character character = first_character(text);
        if (is_shown(character)) {
            safe += character.bytes;
        } else {
            write(safe, character);
        }
        text.remove_prefix(character.bytes.size());
    }
    return safe;
}

void write_readable(std::string& safe, const Character& character) {
    if (!character.valid || character.code < 0x80) {
        safe += fmt::format("\\x{:02x}", character.code);
    } else {
        safe += character.code <= 0xFFFF ? fmt::format("\\u{:04x}", character.code)
                                         : fmt::format("\\U{:08x}", character.code);
    }
}

bool is_number(std::string_view text) {
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && stop == last && std::isfinite(value);
}

/// What spreadsheets take for the beginning of a formula, also in the wide form of East Asian keyboards.
bool begins_formula(std::string_view text) {
    constexpr std::array<std::string_view, 8> kBeginnings{"=", "+", "-", "@", "＝", "＋", "－", "＠"};
    return std::ranges::any_of(kBeginnings, [&](std::string_view mark) { return text.starts_with(mark); }) &&
           !is_number(text);
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, write_readable); }

std::string printable_lines(std::string_view text) {
    return escaped(text, [](std::string& safe, const Character& character) {
        if (character.bytes == "\n") {
            safe += '\n';
        } else {
            write_readable(safe, character);
        }
    });
}

std::string printable_json(std::string_view json) {
    return escaped(json, [](std::string& safe, const Character& character) {
        // Blank space between values; in a string it cannot be.
        if (character.code == '\n' || character.code == '\r' || character.code == '\t') {
            safe += character.bytes;
        } else if (character.code <= 0xFFFF) {
            safe += fmt::format("\\u{:04x}", character.code);
        } else {
            const std::uint32_t rest = character.code - 0x10000;
            safe += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10U), 0xDC00 + (rest & 0x3FFU));
        }
    });
}

std::string printable_xml(std::string_view xml) {
    return escaped(xml, [](std::string& safe, const Character& character) {
        if (character.code == '\n' || character.code == '\t') {
            safe += character.bytes;
        } else {
            safe += fmt::format("&#x{:x};", character.code);
        }
    });
}

std::string csv_cell(std::string_view text) {
    std::string cell = printable(text);
    if (begins_formula(cell)) cell.insert(0, 1, '\'');
    if (cell.find_first_of(",\"") == cell.npos && !cell.starts_with(' ') && !cell.ends_with(' ')) return cell;
    std::string quoted = "\"";
    for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

}  // namespace tutti::text
