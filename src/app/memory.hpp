#pragma once

#include <cstdint>
#include <optional>

namespace tutti::app {

/// The peak resident memory of this process, or of a child that has ended (a solver's helper process),
/// whichever is larger.
[[nodiscard]] std::optional<std::uint64_t> peak_memory_bytes();

}  // namespace tutti::app
