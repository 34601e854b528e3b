#pragma once

#include "core/collective.hpp"
#include "core/ticks.hpp"
#include "plan/execution_plan.hpp"

#include <cstdint>
#include <optional>

namespace tutti::timing {

/// Largest size of a call: a thousand terabytes.
inline constexpr Bytes kMaxCallBytes{std::int64_t{1} << 50};

/// What the size of a call means (docs/plan-costs.md): as in nccl-tests, `bytes` is the larger of a rank's
/// two buffers, of a rooted collective the root's.

/// Chunks that this buffer is cut into, by a plan whose file says `chunks_per_loop`: the same, but for gather
/// and scatter, whose files count the chunks of the others' buffers.
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, std::int32_t ranks,
                                           std::int64_t chunks_per_loop);

/// The same of an execution plan, which says of each rank how many chunks its buffers have.
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::ExecutionPlan& plan);

/// ceil(bytes / chunks). Throws InputError unless 1 <= bytes <= kMaxCallBytes.
[[nodiscard]] Bytes chunk_bytes(Bytes call, std::uint64_t chunks);

/// Bytes per time in GB/s, with ticks of 1 ps. None if no time passes.
[[nodiscard]] std::optional<double> bandwidth_GBps(Bytes call, Ticks makespan);
/// By what the algorithm bandwidth is multiplied to get the bus bandwidth; none where nccl-tests has no word.
[[nodiscard]] std::optional<double> bus_factor(CollectiveKind goal, std::int32_t ranks);

}  // namespace tutti::timing
