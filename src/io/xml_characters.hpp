#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::io {

/// The position of the first character that is not UTF-8 or that XML 1.0 forbids (section 2.2); nothing if
/// there is none. Near the speed of memory.
[[nodiscard]] std::optional<std::size_t> first_bad_character(std::string_view text);

/// Whether XML 1.0 may hold this character.
[[nodiscard]] bool is_xml_character(std::uint32_t code);

/// Converts UTF-16 with its byte order mark to UTF-8 without one; nothing where it is no valid UTF-16.
[[nodiscard]] std::optional<std::string> utf8_of_utf16(std::string_view bytes);

}  // namespace tutti::io
