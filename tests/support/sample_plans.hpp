#pragma once

#include "core/collective.hpp"
#include "core/instance.hpp"
#include "core/rng.hpp"
#include "core/schedule.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "timing/plan_timing.hpp"

#include <vector>

namespace tutti::test {

/// A thread block of a plan in the making.
[[nodiscard]] plan::ThreadBlock block(std::int32_t id, std::int32_t send, std::int32_t recv,
                                      std::int32_t channel, std::vector<plan::Step> steps);
/// Steps with the addresses that matter; set the dependencies as needed.
[[nodiscard]] plan::Step step(plan::StepType type, plan::Buffer buffer, std::int32_t offset,
                              std::int32_t count = 1);
/// GPUs 0, 1, … of the ranks, without blocks.
[[nodiscard]] plan::MscclPlan empty_plan(CollectiveKind goal, std::int32_t ranks, std::int32_t chunks);

// Plans that are right, whatever the timing. `share` chunks per rank (all-gather, all-reduce), per pair
// (all-to-all) or in all (broadcast).
[[nodiscard]] plan::MscclPlan ring_all_gather(std::int32_t ranks, std::int32_t share = 1);
[[nodiscard]] plan::MscclPlan pairs_all_gather(std::int32_t ranks, std::int32_t share = 1);
[[nodiscard]] plan::MscclPlan ring_all_reduce(std::int32_t ranks, std::int32_t share = 1);
[[nodiscard]] plan::MscclPlan pairs_all_to_all(std::int32_t ranks, std::int32_t share = 1);
/// Rank 0 to all along the tree in which the parent of r is parent[r] < r.
[[nodiscard]] plan::MscclPlan tree_broadcast(const std::vector<std::int32_t>& parent,
                                             std::int32_t chunks = 1);
/// The other way round: everybody's data summed up at rank 0.
[[nodiscard]] plan::MscclPlan tree_reduce(const std::vector<std::int32_t>& parent, std::int32_t chunks = 1);

/// One of these, for so many ranks, with up to three chunks each. FIFOs of four messages are enough.
[[nodiscard]] plan::MscclPlan random_sample(Rng& rng, std::int32_t ranks);

/// "Valid", of a plan that is known to be.
[[nodiscard]] plan::PlanVerdict believed_valid(CollectiveKind goal, std::optional<std::int32_t> root = {});

/// Whether a plan ends where connections hold so many messages; without any nothing can be sent.
[[nodiscard]] bool ends_with(const plan::MscclPlan& plan, const Topology& topology, std::int64_t capacity);

/// The timed transfers of one of the plans above as a schedule of the instance that asks for the same data
/// (app/plan_bound): which chunk each transfer carries is found by running the plan.
[[nodiscard]] Schedule schedule_of(const plan::MscclPlan& plan, const timing::PlanTiming& timing,
                                   const Instance& instance);

}  // namespace tutti::test
