#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::batch {

/// The hash FNV-1a of 64 bits, or with `so_far` that of what went before and these bytes. It tells things
/// apart; it is no secret.
[[nodiscard]] constexpr std::uint64_t fnv(std::string_view bytes,
                                          std::uint64_t so_far = 0xcbf29ce484222325U) {
    for (const char byte : bytes) so_far = (so_far ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
    return so_far;
}

}  // namespace tutti::batch
