#pragma once

#include "heuristics/paths/list_schedule.hpp"

namespace tutti::heuristics {

/// One tree for each spread, all planned at common prices of the links: short, shallow trees that share the
/// load evenly. Supports relays outside the group and switches of every kind; without times and bookings.
/// Unicasts and multicasts may be mixed. None: a target cannot be reached, or `stop` came first. `taken`: how
/// long each link is busy with something else (none: no link is). O(passes * spreads * hops * log nodes).
[[nodiscard]] std::optional<TreePlan> steiner_trees(const SpreadProblem& problem, Rng& rng, const Stop& stop,
                                                    std::span<const Ticks> taken = {});

/// Plans trees, list-schedules them (longest remaining path first), and trims what is late. For many chunks
/// and groups at once.
[[nodiscard]] std::optional<SpreadSolution> plan_trees(const SpreadProblem& problem, Rng& rng,
                                                       const Stop& stop);

}  // namespace tutti::heuristics
