#pragma once

#include "plan/forestcoll_plan.hpp"
#include "verify/plan/findings.hpp"

namespace tutti::verify {

/// Checks ForestColl's trees: each is a tree from its root (`tree`, `not-held`) that reaches every node
/// (`value`), and the trees of each node carry exactly its share (`value`). Warns of wrong stated heights
/// (`claim`). Returns the greatest height.
std::int64_t check_trees(const plan::ForestCollPlan& plan, Findings& violations, Findings& warnings);

}  // namespace tutti::verify
