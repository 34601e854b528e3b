#pragma once

#include <cstdint>
#include <optional>

namespace tutti::app {

/// The peak resident memory of this process, or of a child that has ended (a solver's helper process),
/// whichever is larger.
[[nodiscard]] std::optional<std::uint64_t> peak_memory_bytes();

/// What this process can still allocate without swapping: of the machine, and of its control group. Nothing:
/// it is not known.
[[nodiscard]] std::optional<std::uint64_t> free_memory_bytes();

}  // namespace tutti::app
