#pragma once

#include "core/collective.hpp"
#include "core/ticks.hpp"
#include "plan/execution_plan.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>
#include <optional>

namespace tutti::timing {

/// Largest size of a call: a thousand terabytes.
inline constexpr Bytes kMaxCallBytes{std::int64_t{1} << 50};

/// The size of a call (docs/plan-costs.md): as in nccl-tests, `bytes` is the larger of a rank's two buffers;
/// for a rooted collective, the root's.

/// The number of chunks of this buffer. Precondition: the plan has ranks and chunks.
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::MscclPlan& plan);
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::ExecutionPlan& plan);

/// ceil(bytes / chunks). Throws InputError unless 1 <= bytes <= kMaxCallBytes.
[[nodiscard]] Bytes chunk_bytes(Bytes call, std::uint64_t chunks);

/// Bytes per time in GB/s, with ticks of 1 ps. None if no time passes.
[[nodiscard]] std::optional<double> bandwidth_GBps(Bytes call, Ticks makespan);
/// Bus bandwidth / algorithm bandwidth; none where nccl-tests defines none.
[[nodiscard]] std::optional<double> bus_factor(CollectiveKind goal, std::int32_t ranks);

}  // namespace tutti::timing
