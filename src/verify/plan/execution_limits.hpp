#pragma once

#include "plan/execution_plan.hpp"
#include "verify/plan/findings.hpp"

namespace tutti::verify {

/// Warns of what the executor of MSCCL++ 0.9 would reject, ignore or compute wrongly in this plan, with the
/// codes `limit-…` and `target-…` (docs/mscclpp-json.md).
void warn_of_execution_limits(const plan::ExecutionPlan& plan, Findings& warnings);

}  // namespace tutti::verify
