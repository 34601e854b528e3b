#pragma once

#include "heuristics/paths/list_schedule.hpp"

namespace tutti::heuristics {

/// list_schedule for every network and calendar: hops of several links, and links that are booked already.
/// O(arcs * hops that share a first link), times the retries.
[[nodiscard]] std::optional<SpreadSolution> schedule_by_ports(const SpreadProblem& problem,
                                                              const TreePlan& plan,
                                                              const ListOptions& options, const Stop& stop);

}  // namespace tutti::heuristics
