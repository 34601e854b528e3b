#pragma once

#include "plan/sccl_plan.hpp"
#include "verify/plan/findings.hpp"

namespace tutti::verify {

/// Of a plan in steps: per step, no link and no switch carries more chunks than it can in the step's rounds
/// (`bandwidth`). Of a pipelined plan the steps that run at once count together. Of a plan in steps or times,
/// warns of what is clear here but not to the tools' own lowerings (`same-step`): sends that read what
/// another send of their step writes, and with times several that add to one sum in one step.
void check_bandwidth(const plan::ScclPlan& plan, Findings& violations, Findings& warnings);

}  // namespace tutti::verify
