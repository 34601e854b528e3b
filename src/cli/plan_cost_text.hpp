#pragma once

#include "app/plan_cost.hpp"
#include "text/table.hpp"

namespace tutti::cli {

/// The cost of plans for people: name and value of each fact, the notes last.
[[nodiscard]] text::Facts facts_of(const app::PlanCost& cost, const Topology& topology);

}  // namespace tutti::cli
