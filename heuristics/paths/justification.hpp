#pragma once

#include "heuristics/paths/list_schedule.hpp"

namespace tutti::heuristics {

/// Improves a schedule of a plan by moving all its transfers as late as they can go, latest first, then as
/// early as they can go, earliest first: it never becomes longer. `starts` are by arc. At most `rounds`
/// rounds; ends earlier when several in a row gained nothing, or at a makespan of `goal`, or stopped. Returns
/// the makespan. For hops of one link and an empty calendar. O(rounds * arcs log arcs).
Ticks justify(const SpreadProblem& problem, const TreePlan& plan, std::vector<Ticks>& starts, unsigned rounds,
              Ticks goal, const Stop& stop);

}  // namespace tutti::heuristics
