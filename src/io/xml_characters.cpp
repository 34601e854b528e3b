#include "io/xml_characters.hpp"

#include <cstring>

namespace tutti::io {
namespace {

std::uint32_t byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// Whether eight bytes are all in [0x20, 0x7F]: the bit trick "determine if a word has a byte less than n".
bool plain(std::uint64_t word) {
    constexpr std::uint64_t kOnes = 0x0101010101010101U;
    constexpr std::uint64_t kHigh = kOnes * 0x80U;
    return ((word | (word - kOnes * 0x20U)) & kHigh) == 0;
}

/// The character at `i`, and its length; length 0 where there is none.
struct Character {
    std::uint32_t code = 0;
    std::size_t length = 0;
};

Character character_at(std::string_view text, std::size_t i) {
    const std::uint32_t lead = byte_at(text, i);
    if (lead < 0x80) return {lead, 1};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < length) return {};
    std::uint32_t code = lead & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
        const std::uint32_t next = byte_at(text, i + k);
        if ((next & 0xC0U) != 0x80U) return {};
        code = code << 6U | (next & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    return overlong ? Character{} : Character{code, length};
}

void append_utf8(std::string& text, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xC0U | code >> 6U);
    } else {
        if (code < 0x10000) {
            put(0xE0U | code >> 12U);
        } else {
            put(0xF0U | code >> 18U);
            put(0x80U | (code >> 12U & 0x3FU));
        }
        put(0x80U | (code >> 6U & 0x3FU));
    }
    put(0x80U | (code & 0x3FU));
}

}  // namespace

bool is_xml_character(std::uint32_t code) {
    if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
    return code < 0xD800 || (code > 0xDFFF && code < 0xFFFE) || (code > 0xFFFF && code <= 0x10FFFF);
}

std::optional<std::size_t> first_bad_character(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        std::uint64_t word = 0;
        if (text.size() - i >= sizeof word) {
            std::memcpy(&word, text.data() + i, sizeof word);
            if (plain(word)) {
                i += sizeof word;
                continue;
            }
        }
        const Character character = character_at(text, i);
        if (character.length == 0 || !is_xml_character(character.code)) return i;
        i += character.length;
    }
    return std::nullopt;
}

std::optional<std::string> utf8_of_utf16(std::string_view bytes) {
    const bool little = bytes.starts_with("\xFF\xFE");
    if (bytes.size() % 2 != 0 || (!little && !bytes.starts_with("\xFE\xFF"))) return std::nullopt;
    const auto unit = [&](std::size_t i) {
        return little ? byte_at(bytes, i) | byte_at(bytes, i + 1) << 8U
                      : byte_at(bytes, i + 1) | byte_at(bytes, i) << 8U;
    };
    std::string text;
    text.reserve(bytes.size() / 2);
    for (std::size_t i = 2; i < bytes.size(); i += 2) {
        std::uint32_t code = unit(i);
        if (code >= 0xD800 && code <= 0xDFFF) {
            if (code > 0xDBFF || i + 2 >= bytes.size()) return std::nullopt;
            i += 2;
            const std::uint32_t low = unit(i);
            if (low < 0xDC00 || low > 0xDFFF) return std::nullopt;
            code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
        }
        append_utf8(text, code);
    }
    return text;
}

}  // namespace tutti::io
