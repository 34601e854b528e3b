#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::plan {

/// The three memories that a plan's steps name on each GPU.
enum class Buffer : std::uint8_t { Input, Output, Scratch };
inline constexpr int kBuffers = 3;

/// 'i', 'o', 's': as the files write it.
[[nodiscard]] constexpr char letter_of(Buffer buffer) { return "ios"[static_cast<int>(buffer)]; }
[[nodiscard]] constexpr std::string_view name_of(Buffer buffer) {
    constexpr std::string_view kNames[]{"input", "output", "scratch"};
    return kNames[static_cast<int>(buffer)];
}

}  // namespace tutti::plan
