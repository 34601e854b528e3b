#pragma once

#include "plan/msccl_plan.hpp"

#include <cstdint>

namespace tutti::bench {

/// Plans whose number of steps is chosen: each is right, and repeats an algorithm for `pieces` sets of
/// chunks.

/// The fused ring, in place: 2 P - 1 steps per gpu and piece; pieces go round on up to 32 channels.
[[nodiscard]] plan::MscclPlan ring_all_reduce(std::int32_t ranks, std::int32_t pieces);

/// Everybody sends everybody a share, into scratch; it is added there and sent to all: 5 (P - 1) steps per
/// gpu and piece.
[[nodiscard]] plan::MscclPlan all_pairs_all_reduce(std::int32_t ranks, std::int32_t pieces);

/// First within nodes of eight to the gpu that has the destination's number, then between nodes: 4 * 8 *
/// (nodes + 7) - 16 nodes steps or so per gpu and piece; a dependency for every message that is passed on.
[[nodiscard]] plan::MscclPlan two_step_all_to_all(std::int32_t nodes, std::int32_t pieces);

/// A chain that passes a broadcast on through two slots of scratch. That a slot may be overwritten is known
/// only from the next gpu's acknowledgement: the order of the accesses goes through another gpu. 5 steps per
/// gpu and piece.
[[nodiscard]] plan::MscclPlan acknowledged_broadcast(std::int32_t ranks, std::int32_t pieces);

}  // namespace tutti::bench
