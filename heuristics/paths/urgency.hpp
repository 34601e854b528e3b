#pragma once

#include "heuristics/paths/hop_times.hpp"
#include "heuristics/paths/list_schedule.hpp"

namespace tutti::heuristics {

/// How urgent each arc of a plan is, as a rank of 0 … kRanks-1; higher goes first.
inline constexpr unsigned kRanks = 64;
[[nodiscard]] std::vector<std::uint8_t> urgency_ranks(const SpreadProblem& problem, const HopTimes& times,
                                                      const TreePlan& plan, const ListOptions& options);

/// The number of the first target minus that of the first source, modulo the NPUs.
[[nodiscard]] inline std::size_t shift_of(const SpreadProblem& problem, const Spread& spread) {
    if (spread.targets.empty() || spread.sources.empty()) return 0;
    const std::size_t npus = problem.graph.instance().topology().npus();
    return (spread.targets.front().index() + npus - spread.sources.front().index()) % npus;
}

/// The parent of an arc in any plan, path or tree.
[[nodiscard]] inline std::uint32_t parent_of(const TreePlan& plan, std::uint32_t begin, std::uint32_t arc) {
    if (!plan.parents.empty()) return plan.parents[arc];
    return arc == begin ? TreePlan::kRoot : arc - 1;
}

}  // namespace tutti::heuristics
