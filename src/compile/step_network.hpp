#pragma once

#include "core/instance.hpp"
#include "plan/sccl_plan.hpp"

#include <span>
#include <vector>

namespace tutti::compile {

/// A topology as SCCL says it: how many chunks each pair of NPUs, and each NPU's way to its switches, carry
/// in a round. A round is what the slowest link takes for a chunk; faster links carry as many as fit whole.
/// Pairs behind switches get the lesser of what the one can send and the other receive. Links between
/// switches cannot be said, so that rounds may be fewer than such a network needs.
struct StepNetwork {
    std::vector<plan::ScclLink> links{};       ///< sorted by source, destination
    std::vector<plan::ScclSwitch> switches{};  ///< each with one source or one destination
};

/// Throws InputError where chunks differ in size. O(npus * links) with switches, else O(links).
[[nodiscard]] StepNetwork step_network(const Instance& instance);

/// The least rounds that each step takes. Precondition: sends are in order of steps (their list), and over
/// links that are there.
[[nodiscard]] std::vector<std::int64_t> rounds_of(const StepNetwork& network,
                                                  std::span<const plan::NodeSend> sends, std::size_t steps);

}  // namespace tutti::compile
