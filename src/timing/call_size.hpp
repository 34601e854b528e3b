#pragma once

#include "core/call.hpp"
#include "plan/execution_plan.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>

namespace tutti::timing {

/// The number of chunks of a call's buffer (core/call.hpp). Precondition: the plan has ranks and chunks.
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::MscclPlan& plan);
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::ExecutionPlan& plan);

}  // namespace tutti::timing
