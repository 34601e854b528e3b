#include "io/json_text.hpp"

#include "text/escape.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

// nlohmann's parser is not recursive and can read block by block. But its value builder has no depth limit,
// keeps the last of two equal keys, searches each object linearly for every new key, and takes a NUL byte for
// the end of the text. So only the parser's events are used; it reads blocks from a reader that rejects NUL
// bytes and counts lines, and the values are built here.

namespace tutti::io {
namespace {

/// Feeds characters to the parser and knows their lines. Lines are counted per block, so a character costs
/// only a comparison.
class TextReader {
  public:
    explicit TextReader(Source& source) : source_(source) {}

    [[nodiscard]] bool at_end() { return next_ == block_.size() && !refill(); }
    [[nodiscard]] char current() const { return block_[next_]; }
    void advance() { ++next_; }

    /// Called when the parser has produced an event.
    void mark() { mark_ = block_begin_ + next_; }

    [[nodiscard]] std::uint64_t offset() const { return block_begin_ + next_; }
    /// "line:column" of a byte that is in the current block; else of the nearest that is.
    [[nodiscard]] std::string place(std::uint64_t offset) const {
        const std::size_t within = std::min(block_.size(), offset > block_begin_ ? offset - block_begin_ : 0);
        const auto before = block_.substr(0, within);
        const auto newline = before.rfind('\n');
        const std::uint64_t line_begin = newline == before.npos ? line_begin_ : block_begin_ + newline + 1;
        return fmt::format("{}:{}", line_ + static_cast<std::uint64_t>(std::ranges::count(before, '\n')),
                           block_begin_ + within - line_begin + 1);
    }

  private:
    bool refill() {
        line_ += static_cast<std::uint64_t>(std::ranges::count(block_, '\n'));
        const auto newline = block_.rfind('\n');
        if (newline != block_.npos) line_begin_ = block_begin_ + newline + 1;
        block_begin_ += block_.size();
        next_ = 0;
        block_ = source_.block();
        if (const auto nul = block_.find('\0'); nul != block_.npos) {
            source_.fail("invalid JSON: a NUL byte", place(block_begin_ + nul));
        }
        if (block_begin_ - mark_ > kMaxJsonToken) {
            source_.fail(
                fmt::format("invalid JSON: {} without a complete value", text::size_text(kMaxJsonToken)),
                place(block_begin_));
        }
        return !block_.empty();
    }

    Source& source_;
    std::string_view block_;
    std::size_t next_ = 0;
    std::uint64_t block_begin_ = 0;  ///< offset of the block
    std::uint64_t line_ = 1;         ///< of the block's first byte
    std::uint64_t line_begin_ = 0;   ///< offset of that line
    std::uint64_t mark_ = 0;
};

/// What nlohmann's parser reads from.
struct Cursor {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    TextReader* reader;

    char operator*() const { return reader->current(); }
    Cursor& operator++() {
        reader->advance();
        return *this;
    }
    friend bool operator==(const Cursor& cursor, const Cursor&) { return cursor.reader->at_end(); }
};

/// nlohmann's message "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while
/// parsing value - unexpected end of input; expected …" without its first half (the place is given
/// elsewhere), in printable characters.
std::string syntax_message(std::string_view what) {
    const auto skip = [&](std::string_view mark) {
        const auto found = what.find(mark);
        if (found != what.npos) what.remove_prefix(found + mark.size());
    };
    skip("] ");
    if (what.starts_with("parse error")) skip(": ");
    if (what.starts_with("syntax error")) skip(" - ");
    constexpr std::size_t kLongest = 200;
    std::string text(what.size() <= kLongest ? what : what.substr(0, 60));
    if (what.size() > kLongest) text += " ... " + std::string(what.substr(what.size() - 100));
    std::ranges::replace_if(
        text, [](char ch) { return ch < ' ' || ch > '~'; }, '?');
    return "invalid JSON: " + text;
}

/// nlohmann's SAX interface, turned into our events.
class Events {
  public:
    Events(TextReader& reader, const JsonListener& listener) : reader_(reader), listener_(listener) {}

    bool null() { return tell(JsonEvent::Value, nullptr); }
    bool boolean(bool value) { return tell(JsonEvent::Value, value); }
    bool number_integer(std::int64_t value) { return tell(JsonEvent::Value, value); }
    bool number_unsigned(std::uint64_t value) { return tell(JsonEvent::Value, value); }
    bool number_float(double value, const std::string&) { return tell(JsonEvent::Value, value); }
    bool string(std::string& value) { return tell(JsonEvent::Value, std::move(value)); }
    bool binary(Json::binary_t&) { return false; }
    bool key(std::string& value) { return tell(JsonEvent::Key, std::move(value)); }
    bool start_object(std::size_t) { return open(JsonEvent::BeginObject); }
    bool start_array(std::size_t) { return open(JsonEvent::BeginArray); }
    bool end_object() { return close(JsonEvent::EndObject); }
    bool end_array() { return close(JsonEvent::EndArray); }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
        throw InputError(syntax_message(error.what()), reader_.place(position > 0 ? position - 1 : 0));
    }

  private:
    bool tell(JsonEvent event, Json value) {
        reader_.mark();
        listener_(event, value);
        return true;
    }
    bool open(JsonEvent event) {
        if (depth_ == kMaxJsonDepth) {
            throw InputError(
                fmt::format("expected at most {} levels of arrays and objects, found more", depth_));
        }
        ++depth_;
        return tell(event, nullptr);
    }
    bool close(JsonEvent event) {
        --depth_;
        return tell(event, nullptr);
    }

    TextReader& reader_;
    const JsonListener& listener_;
    std::size_t depth_ = 0;
};

void check_beginning(Source& source) {
    const std::string_view start = source.peek(3);
    if (start.empty()) source.fail("expected JSON, found an empty file");
    if (start == "\xEF\xBB\xBF") {
        source.fail("the file starts with a byte order mark; save it as UTF-8 without one", "1:1");
    }
    if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
        source.fail("the file is UTF-16; save it as UTF-8", "1:1");
    }
}

/// Builds a value from the events.
class JsonBuilder {
  public:
    explicit JsonBuilder(std::size_t max_values) : left_(max_values), max_values_(max_values) {}

    void take(JsonEvent event, Json& value) {
        switch (event) {
            case JsonEvent::Key:
                begin_field(value.get_ref<std::string&>());
                break;
            case JsonEvent::Value:
                (void)add(std::move(value));
                break;
            case JsonEvent::BeginObject:
                open_.push_back({add(Json::object()), {}});
                break;
            case JsonEvent::BeginArray:
                open_.push_back({add(Json::array()), {}});
                break;
            case JsonEvent::EndObject:
            case JsonEvent::EndArray:
                open_.pop_back();
                break;
        }
    }

    [[nodiscard]] Json result() && { return std::move(root_); }

  private:
    struct Open {
        /// Stays valid: the parent does not grow before this is closed.
        Json* value;
        std::unordered_set<std::string> keys;  ///< of an object with many
    };
    static constexpr std::size_t kManyKeys = 16;

    Json* add(Json value) {
        if (left_-- == 0) {
            throw InputError(
                fmt::format("expected at most {} values, found more; large topologies are better "
                            "given by a generator",
                            max_values_));
        }
        if (open_.empty()) return &(root_ = std::move(value));
        Json& parent = *open_.back().value;
        if (parent.is_array()) {
            auto& array = parent.get_ref<Json::array_t&>();
            array.push_back(std::move(value));
            return &array.back();
        }
        Json& field = parent.get_ref<Json::object_t&>().back().second;
        field = std::move(value);
        return &field;
    }

    void begin_field(const std::string& key) {
        auto& [value, keys] = open_.back();
        auto& object = value->get_ref<Json::object_t&>();
        bool known = false;
        if (object.size() < kManyKeys) {
            known = std::ranges::any_of(object, [&](const auto& field) { return field.first == key; });
        } else {
            if (keys.empty()) {
                for (const auto& field : object) keys.insert(field.first);
            }
            known = !keys.insert(key).second;
        }
        // Not operator[]: its search for the key would make a large object quadratic.
        object.emplace_back(key, nullptr);
        if (known) throw InputError("this field is given twice", path());
    }

    /// Where the next value would go.
    [[nodiscard]] std::string path() const {
        Json::json_pointer pointer;
        for (const Open& open : open_) {
            if (open.value->is_object()) {
                pointer /= open.value->get_ref<const Json::object_t&>().back().first;
            } else {
                pointer /= open.value->size() - 1;
            }
        }
        return pointer.to_string();
    }

    Json root_;
    std::vector<Open> open_;
    std::size_t left_, max_values_;
};

constexpr std::size_t kPageWidth = 100;

/// Whether it may be written on one line: nothing in it is itself a container of containers.
bool is_flat(const Json& value) {
    return std::ranges::none_of(value, [](const Json& inner) {
        return std::ranges::any_of(inner, [](const Json& innermost) { return innermost.is_structured(); });
    });
}

std::string spaced_line(const Json& value) {
    if (!value.is_structured()) return json_line(value);
    std::string text;
    for (const auto& [key, inner] : value.items()) {
        if (!text.empty()) text += ", ";
        if (value.is_object()) text += json_line(key) + ": ";
        text += spaced_line(inner);
    }
    return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// A long list of scalars, as many to a line as fit.
void append_filled(std::string& page, const Json& list, std::size_t indent) {
    std::string line;
    page += "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string item = json_line(list[i]) + (i + 1 < list.size() ? "," : "");
        if (i == 0 || indent + 2 + line.size() + 1 + item.size() > kPageWidth) {
            page += line + "\n" + std::string(indent + 2, ' ');
            line = item;
        } else {
            line += " " + item;
        }
    }
    page += line + "\n" + std::string(indent, ' ') + "]";
}

void append_page(std::string& page, const Json& value, std::size_t indent) {
    if (!value.is_structured() || value.empty()) {
        page += json_line(value);
        return;
    }
    // An element takes three characters or more, so a long list need not be written out to see that it is too
    // long.
    if (value.size() <= kPageWidth / 3 && is_flat(value) && (indent > 0 || value.is_array())) {
        std::string line = spaced_line(value);
        if (line.size() + indent <= kPageWidth) {
            page += line;
            return;
        }
    }
    if (value.is_array() &&
        std::ranges::none_of(value, [](const Json& item) { return item.is_structured(); })) {
        append_filled(page, value, indent);
        return;
    }
    page += value.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [key, inner] : value.items()) {
        page += first ? "\n" : ",\n";
        page.append(indent + 2, ' ');
        if (value.is_object()) page += json_line(key) + ": ";
        append_page(page, inner, indent + 2);
        first = false;
    }
    page += "\n";
    page.append(indent, ' ');
    page += value.is_object() ? "}" : "]";
}

}  // namespace

void parse_json_events(Source& source, const JsonListener& listener) {
    check_beginning(source);
    TextReader reader(source);
    Events events(reader, listener);
    try {
        (void)Json::sax_parse(Cursor{&reader}, Cursor{&reader}, &events);
    } catch (const InputError& error) {
        const std::uint64_t last = reader.offset() > 0 ? reader.offset() - 1 : 0;
        throw(error.place().empty() ? error.at(reader.place(last)) : error).in_file(source.name());
    }
}

Json parse_json(Source& source, const JsonLimits& limits) {
    source.limit(limits.bytes);
    JsonBuilder builder(limits.values);
    parse_json_events(source, [&](JsonEvent event, Json& value) { builder.take(event, value); });
    return std::move(builder).result();
}

Json number_json(double value) {
    const bool whole = value == std::floor(value) && std::abs(value) <= 1e15;
    return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

std::string json_line(const Json& value) {
    return text::printable_json(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string json_page(const Json& value) {
    std::string page;
    append_page(page, value, 0);
    return page + "\n";
}

}  // namespace tutti::io
