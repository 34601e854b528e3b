#pragma once

#include "io/json_view.hpp"
#include "io/source.hpp"

#include <functional>

namespace tutti::io {

/// Parsing of JSON text, with limits that are enforced while reading, and writing.

struct JsonLimits {
    std::uint64_t bytes = std::uint64_t{1} << 31;
    /// Values of all kinds; each takes up to 80 bytes of memory.
    std::size_t values = std::size_t{1} << 26;
};

/// Arrays and objects may be nested this deep. A file of nothing but '[' is refused after as many bytes.
inline constexpr std::size_t kMaxJsonDepth = 64;
/// Longest string, number or blank space.
inline constexpr std::uint64_t kMaxJsonToken = std::uint64_t{1} << 24;

/// A JSON text as a value. Throws InputError with the file and "line:column", or the path of a field given
/// twice.
[[nodiscard]] Json parse_json(Source& source, const JsonLimits& limits = {});

enum class JsonEvent { Value, Key, BeginObject, EndObject, BeginArray, EndArray };

/// Called for each event; `value` is the scalar or the key (as a string), and may be moved from. It may throw
/// InputError; where the error names no place, the current line and column are added.
using JsonListener = std::function<void(JsonEvent event, Json& value)>;

/// Parses JSON as events, for documents too large for memory. The events are well nested, at most
/// kMaxJsonDepth deep. The listener must check for duplicate fields.
void parse_json_events(Source& source, const JsonListener& listener);

/// A JSON number; whole values are written without a fraction.
[[nodiscard]] Json number_json(double value);
/// On one line. Bytes that are not UTF-8 (file names may hold any) become U+FFFD, so the text is always JSON.
/// What a terminal would obey is written as \uNNNN (text/escape.hpp).
[[nodiscard]] std::string json_line(const Json& value);
/// For people: what fits is written on one line, long lists fill lines, all else is indented by two.
/// Ends with a newline.
[[nodiscard]] std::string json_page(const Json& value);

}  // namespace tutti::io
