#include "app/sniff.hpp"

#include <algorithm>

namespace tutti::app {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kStreamMagic = "TUTTISCH";

std::string_view without_blanks(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    return text;
}

/// The text behind the next `end`; empty if there is none.
std::string_view behind(std::string_view text, std::string_view end) {
    const std::size_t found = text.find(end);
    return found == text.npos ? std::string_view() : text.substr(found + end.size());
}

/// The name of the first element, after the declaration and comments.
std::string root_of(std::string_view text) {
    while (true) {
        text = without_blanks(text);
        if (text.starts_with("<?")) {
            text = behind(text, "?>");
        } else if (text.starts_with("<!--")) {
            text = behind(text, "-->");
        } else {
            break;
        }
    }
    if (!text.starts_with('<')) return {};
    const std::size_t end = text.find_first_of(" \t\r\n/>", 1);
    return std::string(text.substr(1, end == text.npos ? 0 : end - 1));
}

/// The position behind the JSON string that starts at `at`; the end of the text if it is not closed.
std::size_t behind_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            return at + 1;
        }
    }
    return text.size();
}

/// The names of the outermost object's fields, unless they are written with escapes.
std::vector<std::string> fields_of(std::string_view text) {
    std::vector<std::string> fields;
    std::size_t depth = 0;
    bool name_next = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '{' || c == '[') {
            name_next = ++depth == 1 && c == '{';
        } else if (c == '}' || c == ']') {
            if (--depth == 0) break;
        } else if (c == ',') {
            name_next = depth == 1;
        } else if (c == '"') {
            const std::size_t end = behind_string(text, at);
            const bool whole = end > at + 1 && text[end - 1] == '"';
            if (name_next && depth == 1 && whole) fields.emplace_back(text.substr(at + 1, end - at - 2));
            name_next = false;
            at = end - 1;
        }
    }
    return fields;
}

}  // namespace

bool Sniffed::has_field(std::string_view name) const {
    return std::ranges::find(fields, name) != fields.end();
}

Sniffed sniff(std::string_view bytes) {
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    const std::string_view text = without_blanks(bytes);
    Sniffed sniffed;
    if (text.empty()) return sniffed;
    const bool wide = bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
    if (kStreamMagic.starts_with(bytes.substr(0, kStreamMagic.size()))) {
        sniffed.shape = Sniffed::Shape::Stream;
    } else if (text[0] == '{' || text[0] == '[') {
        sniffed.shape = Sniffed::Shape::Json;
        sniffed.fields = fields_of(text);
    } else if (wide || text[0] == '<' || text.find("<algo") != text.npos) {
        sniffed.shape = Sniffed::Shape::Xml;
        sniffed.root = root_of(text);
    } else {
        sniffed.shape = Sniffed::Shape::Text;
        sniffed.line = std::string(text.substr(0, text.find_first_of("\r\n")));
    }
    return sniffed;
}

}  // namespace tutti::app
