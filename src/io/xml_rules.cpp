// pugixml is fast because it is lenient: it skips document types, keeps unknown entities as they are, keeps
// the first of two equal attributes, and accepts several roots with text between them. Untrusted files must
// follow XML 1.0, so one pass over the text checks them first. The pass tracks its state (text, tag, value,
// comment) but builds nothing, not even the stack of open tags: pugixml checks their nesting itself.

#include "io/xml_rules.hpp"

#include "io/xml_characters.hpp"
#include "plan/plan_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tutti::io {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool ends_name(char c) {
    return is_space(c) || c == '=' || c == '>' || c == '/' || c == '<' || c == '"' || c == '\'';
}

class XmlRules {
  public:
    XmlRules(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    void check() {
        if (const auto bad = first_bad_character(text_)) {
            fail(*bad, fmt::format("expected characters of UTF-8 that XML allows, found the byte 0x{:02X}",
                                   static_cast<unsigned char>(text_[*bad])));
        }
        while (at_ < text_.size()) {
            plain_text();
            if (at_ < text_.size()) markup();
        }
        if (!rooted_) fail(text_.size(), "expected an element, found none");
        if (depth_ > 0) fail(text_.size(), "the text ends before its elements do");
    }

  private:
    [[noreturn]] void fail(std::size_t offset, const std::string& message, const char* code = "xml") const {
        throw plan::PlanError(code, message, line_and_column(text_, offset), file_);
    }

    char peek() const {
        if (at_ >= text_.size()) fail(text_.size(), "the text ends inside a tag");
        return text_[at_];
    }
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    void plain_text() {
        for (; at_ < text_.size() && text_[at_] != '<'; ++at_) {
            const char c = text_[at_];
            if (is_space(c)) continue;
            if (depth_ == 0) fail(at_, "expected nothing but one element, found text beside it");
            if (c == '&') reference();
            if (c == ']' && text_.substr(at_).starts_with("]]>")) fail(at_, "found ]]> in a text");
        }
    }

    void markup() {
        const std::string_view rest = text_.substr(at_);
        if (rest.starts_with("<!--")) {
            comment();
        } else if (rest.starts_with("<![CDATA[")) {
            if (depth_ == 0) fail(at_, "expected nothing but one element, found text beside it");
            pass("]]>", "a CDATA section");
        } else if (rest.starts_with("<?")) {
            instruction();
        } else if (rest.starts_with("<!")) {
            fail(at_, "expected a document without document type and entities", "dtd");
        } else if (rest.starts_with("</")) {
            if (depth_ == 0) fail(at_, "expected the start of an element, found its end");
            --depth_;
            pass(">", "a tag");
        } else {
            tag();
        }
    }

    /// Skips to behind the next `end`.
    void pass(std::string_view end, const char* what) {
        const std::size_t found = text_.find(end, at_);
        if (found == text_.npos) fail(at_, fmt::format("the text ends inside {}", what));
        at_ = found + end.size();
    }

    void comment() {
        const std::size_t start = at_;
        at_ += 4;
        pass("--", "a comment");
        if (peek() != '>') fail(start, "found -- inside a comment");
        ++at_;
    }

    void instruction() {
        const std::size_t start = at_;
        at_ += 2;
        pass("?>", "a processing instruction");
        std::string_view target = text_.substr(start + 2, 3);
        const bool declares = (target == "xml" || target == "XML") && ends_like_declaration(start + 5);
        if (declares && start > 0) fail(start, "expected the XML declaration first in the file");
    }
    bool ends_like_declaration(std::size_t offset) const {
        return is_space(text_[offset]) || text_[offset] == '?';
    }

    void tag() {
        if (depth_ == 0 && rooted_) fail(at_, "expected one root, found a second");
        rooted_ = true;
        names_.clear();
        seen_ = 0;
        ++at_;
        name("of an element");
        while (true) {
            skip_space();
            const char c = peek();
            if (c == '>') {
                ++depth_;
                ++at_;
                return;
            }
            if (c == '/') {
                ++at_;
                if (peek() != '>') fail(at_, "expected > after /");
                ++at_;
                return;
            }
            attribute();
        }
    }

    std::string_view name(const char* what) {
        const std::size_t start = at_;
        while (!ends_name(peek())) ++at_;
        if (at_ == start) fail(at_, fmt::format("expected the name {}, found '{}'", what, text_[at_]));
        return text_.substr(start, at_ - start);
    }

    void attribute() {
        const std::size_t start = at_;
        const std::string_view found = name("of an attribute");
        refuse_twice(found, start);
        skip_space();
        if (peek() != '=') fail(at_, fmt::format("expected = and a value after {}", found));
        ++at_;
        skip_space();
        const char quote = peek();
        if (quote != '"' && quote != '\'')
            fail(at_, fmt::format("expected the value of {} in quotes", found));
        for (++at_; peek() != quote; ++at_) {
            if (text_[at_] == '<') fail(at_, fmt::format("found < in the value of {}", found));
            if (text_[at_] == '&') reference();
        }
        ++at_;
        if (const char c = peek(); !is_space(c) && c != '/' && c != '>')
            fail(at_, "expected a space between attributes");
    }

    /// Attribute names of a tag are hashed to 64 bits by length and last letter, and compared only on a
    /// collision.
    void refuse_twice(std::string_view found, std::size_t start) {
        constexpr std::size_t kMany = 256;
        const auto key = found.size() * 7 + static_cast<unsigned char>(found.back());
        const std::uint64_t bit = std::uint64_t{1} << (key & 63U);
        if ((seen_ & bit) != 0 && std::ranges::find(names_, found) != names_.end())
            fail(start, fmt::format("the attribute {} is there twice", found));
        seen_ |= bit;
        names_.push_back(found);
        if (names_.size() > kMany)
            fail(start, fmt::format("expected at most {} attributes of an element", kMany), "too-large");
    }

    /// One of the five entities that XML defines, or a character by number; `at_` ends on its semicolon.
    void reference() {
        constexpr std::size_t kLongest = 12;
        const std::string_view rest = text_.substr(at_ + 1, kLongest);
        const std::size_t length = rest.find(';');
        const std::string_view entity = rest.substr(0, length == rest.npos ? 0 : length);
        const bool known = entity == "amp" || entity == "lt" || entity == "gt" || entity == "quot" ||
                           entity == "apos" || (entity.starts_with('#') && is_number(entity.substr(1)));
        if (!known) fail(at_, "found & without an entity that XML defines");
        at_ += length + 1;
    }
    static bool is_number(std::string_view digits) {
        const bool hexadecimal = digits.starts_with('x');
        if (hexadecimal) digits.remove_prefix(1);
        std::uint32_t code = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, hexadecimal ? 16 : 10);
        return error == std::errc{} && end == digits.data() + digits.size() && is_xml_character(code);
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    bool rooted_ = false;
    std::vector<std::string_view> names_;  ///< the attributes of this tag
    std::uint64_t seen_ = 0;
};

}  // namespace

void check_xml(std::string_view text, const std::string& file) { XmlRules(text, file).check(); }

std::string line_and_column(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t start = before.rfind('\n');
    return fmt::format("{}:{}", line, before.size() - (start == before.npos ? 0 : start + 1) + 1);
}

}  // namespace tutti::io
