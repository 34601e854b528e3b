#pragma once

#include "app/judge.hpp"

namespace tutti::app {

/// The makespan of a file's schedule or plan, and its gap to the bound.
struct Cost {
    Ticks makespan{};
    std::optional<Bound> bound{};         ///< none where a plan's meaning is not known
    std::optional<double> gap{};          ///< (makespan - bound) / bound
    std::vector<SkippedBound> skipped{};  ///< bounds that were not computed, or not to their end
    std::optional<PlanCost> plan{};       ///< of a plan: links, bandwidths, notes (docs/plan-costs.md)
};

/// The cost of a plan on the options' topology, or of a schedule on its instance's. Judges it first: throws
/// InputError with the first violation if it is wrong, or where it does not fit the topology; LimitError when
/// interrupted. Precondition: the files are one plan, or an instance and one schedule.
[[nodiscard]] Cost cost(const JudgeOptions& options, const Watch& watch = {});

}  // namespace tutti::app
