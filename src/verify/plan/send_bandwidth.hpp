#pragma once

#include "plan/sccl_plan.hpp"
#include "verify/plan/findings.hpp"

namespace tutti::verify {

/// For a plan in steps: checks that per step no link and no switch carries more chunks than it can in the
/// step's rounds (`bandwidth`); the concurrent steps of a pipelined plan count together. For a plan in steps
/// or times: warns (`same-step`) of what is well-defined here but not in the tools' own lowerings: sends that
/// read what another send of their step writes, and with times several that add to one sum in one step.
void check_bandwidth(const plan::ScclPlan& plan, Findings& violations, Findings& warnings);

}  // namespace tutti::verify
