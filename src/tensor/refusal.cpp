#include "tensor/refusal.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tutti::tensor {

std::string with_short_words(const std::string& text) {
    constexpr std::size_t kMost = 300;
    constexpr std::string_view kBlanks = " \t\r\n";
    if (text.size() <= kMost) return text;
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        if (kBlanks.find(text[at]) != kBlanks.npos) {
            result += text[at++];
            continue;
        }
        const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
        if (end - at <= kMost) {
            result.append(text, at, end - at);
        } else {
            std::size_t cut = at + kMost;
            // Not in the middle of a character.
            while (cut > at && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
            result.append(text, at, cut - at).append("…");
        }
        at = end;
    }
    return result;
}

Refusal::Refusal(std::string code, const std::string& words, std::string value, const std::string& place,
                 const std::string& file)
    : InputError(with_short_words((value.empty() ? "" : value + ": ") + code + ": " + words),
                 with_short_words(place), file),
      code_(std::move(code)),
      words_(with_short_words(words)),
      value_(with_short_words(value)) {}

}  // namespace tutti::tensor
