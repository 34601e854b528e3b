#pragma once

#include "io/plan_field.hpp"
#include "plan/send_plan.hpp"

namespace tutti::io {

/// Fills in links and switches from SCCL's or TACCL's topology. Precondition: plan.nodes is set.
void read_sccl_topology(const PlanField& topology, plan::SendPlan& plan);

}  // namespace tutti::io
