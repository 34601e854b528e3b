#pragma once

#include "plan/plan_verdict.hpp"
#include "verify/plan/msccl_structure.hpp"

namespace tutti::verify {

/// The least number of messages that every connection must hold so that the plan ends.
///
/// A send blocks while its connection is full, a receive while it is empty, a fused step until it can take a
/// message and pass it on. Such a network is deterministic (whatever order the steps are tried in, the same
/// ones get done), so one simulation decides a capacity; more capacity never hurts, so the least one is found
/// by doubling and halving. O(messages) for each of O(log messages) simulations.
///
/// Precondition: the plan ends with unbounded connections.
[[nodiscard]] plan::FifoNeed fifo_need(const MscclStructure& structure, plan::Protocol protocol);

}  // namespace tutti::verify
