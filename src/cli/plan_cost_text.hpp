#pragma once

#include "app/plan_cost.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tutti::cli {

/// The cost of plans for people: name and value of each fact, the notes last.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(const app::PlanCost& cost,
                                                                        const Topology& topology);

}  // namespace tutti::cli
