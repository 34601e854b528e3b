#include "text/utf8.hpp"

#include "core/expects.hpp"

namespace tutti::text {
namespace {

std::size_t length_by(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

}  // namespace

Character first_character(std::string_view text) {
    expects(!text.empty());
    const Character stray{text.substr(0, 1), static_cast<unsigned char>(text[0]), false};
    const std::size_t length = length_by(static_cast<unsigned char>(text[0]));
    if (length == 0 || length > text.size()) return stray;
    if (length == 1) return {stray.bytes, stray.code, true};
    std::uint32_t code = stray.code & (0xFFU >> (length + 1));
    for (const char c : text.substr(1, length - 1)) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0U) != 0x80U) return stray;
        code = code << 6U | (byte & 0x3FU);
    }
    const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool no_character = (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
    if (too_long || no_character) return stray;
    return {text.substr(0, length), code, true};
}

}  // namespace tutti::text
