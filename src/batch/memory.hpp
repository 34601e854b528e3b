#pragma once

#include <cstdint>
#include <optional>

namespace tutti::batch {

/// The most memory this process has had resident since it began, or since forget_peak_memory().
[[nodiscard]] std::optional<std::uint64_t> peak_memory_bytes();

/// Starts counting anew, so that a batch can tell the peak of each instance. Without effect where the system
/// has no way to do so; the peak is then that of the whole run.
void forget_peak_memory();

}  // namespace tutti::batch
