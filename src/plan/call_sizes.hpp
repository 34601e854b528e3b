#pragma once

#include "core/collective.hpp"
#include "plan/execution_plan.hpp"
#include "plan/msccl_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tutti::plan {

/// Chunks of a rank's buffers in a call, as the collective and the declarations give them. Of a collective
/// with a root: of the rank that has most. Where nothing but the declarations is known (Custom): the most
/// that a rank declares.
struct CallSizes {
    CollectiveKind goal = CollectiveKind::Custom;
    std::int64_t input = 0, output = 0;
    std::int64_t share = 0;  ///< of one rank, where the goal has shares

    /// What nccl-tests calls the size of a call.
    [[nodiscard]] std::int64_t larger() const { return std::max(input, output); }
};

/// What the plan says that it is for; Custom where it says nothing that anybody knows.
[[nodiscard]] CollectiveKind stated_goal(const MscclPlan& plan);
/// Files of MSCCL++ have a meaning for five collectives only; all others are Custom.
[[nodiscard]] CollectiveKind stated_goal(const ExecutionPlan& plan);

/// From `nchunksperloop` and the goal, not from the declarations (docs/msccl-xml.md, section 4). Nothing if
/// chunks would have to be divided and cannot be.
[[nodiscard]] std::optional<CallSizes> call_sizes(const MscclPlan& plan, CollectiveKind goal);

/// From what the GPUs declare; in place, a size of 0 follows from the other one. Whether the sizes fit the
/// goal and each other is for the verifier.
[[nodiscard]] CallSizes call_sizes(const ExecutionPlan& plan, CollectiveKind goal);

/// How the sizes of a goal's two buffers compare: `output` chunks for every `input` chunks.
struct SizeRatio {
    std::int64_t output = 1, input = 1;
};
[[nodiscard]] SizeRatio size_ratio(CollectiveKind goal, std::int64_t ranks);

}  // namespace tutti::plan
