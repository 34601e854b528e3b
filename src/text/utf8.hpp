#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::text {

/// One character of a text, or one byte that is none.
struct Character {
    std::string_view bytes;
    std::uint32_t code = 0;
    bool valid = false;  ///< it is UTF-8: neither a surrogate nor longer than need be
};

/// Precondition: the text is not empty.
[[nodiscard]] Character first_character(std::string_view text);

}  // namespace tutti::text
