#pragma once

#include "tests/oracle/plan_machine.hpp"

#include <set>
#include <string>

namespace tutti::oracle {

/// What is wrong with a plan before anything runs, by the codes of the corpus where it has one: "gpu-id",
/// "tb-id", "step-id", "peer", "channel", "address", "count", "range", "dependency", "connection",
/// "unmatched", "count-mismatch", "overlap", "mode", "chunks". Ranges and overlaps are those of the given
/// call. Empty: it can be run.
[[nodiscard]] std::set<std::string> structure_faults(const plan::MscclPlan& plan, const PlanCall& call);

}  // namespace tutti::oracle
