#pragma once

#include "plan/plan_verdict.hpp"
#include "verify/plan/msccl_structure.hpp"

namespace tutti::verify {

/// The least capacity, in messages per connection, with which the plan terminates.
///
/// A send blocks while its connection is full, a receive while it is empty, a fused step until it can take a
/// message and forward it. Such a network is deterministic (in any order of execution the same steps
/// complete), so one simulation decides a capacity. More capacity never hurts, so the least one is found by
/// doubling and binary search. O(messages) for each of O(log messages) simulations.
///
/// Precondition: the plan terminates with unbounded connections.
[[nodiscard]] plan::FifoNeed fifo_need(const MscclStructure& structure, plan::Protocol protocol);

}  // namespace tutti::verify
