#pragma once

#include <cstdint>
#include <optional>

namespace tutti::app {

/// The most memory this process has had resident since it began, or a child of it that has ended (a solver's
/// helper process): whichever is more.
[[nodiscard]] std::optional<std::uint64_t> peak_memory_bytes();

}  // namespace tutti::app
