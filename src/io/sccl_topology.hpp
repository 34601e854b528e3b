#pragma once

#include "io/plan_field.hpp"
#include "plan/sccl_plan.hpp"

namespace tutti::io {

/// Fills in links and switches from SCCL's or TACCL's topology. Precondition: plan.nodes is set.
void read_sccl_topology(const PlanField& topology, plan::ScclPlan& plan);

}  // namespace tutti::io
