#pragma once

#include "verify/plan/findings.hpp"
#include "verify/plan/msccl_structure.hpp"
#include "verify/plan/plan_verifier.hpp"

namespace tutti::verify {

/// Warns of what a runtime of the MSCCL family would reject or silently ignore in this plan, with the codes
/// `limit-…` and `target-…`.
void warn_of_limits(const plan::MscclPlan& plan, const MscclStructure& structure, plan::Target target,
                    Findings& warnings);

}  // namespace tutti::verify
