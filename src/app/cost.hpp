#pragma once

#include "app/judge.hpp"

namespace tutti::app {

/// What a file's schedule or plan takes, and how far that is from what is possible.
struct Cost {
    Ticks makespan{};
    std::optional<Bound> bound{};    ///< none where a plan's meaning is not known
    std::optional<double> gap{};     ///< (makespan - bound) / bound
    std::optional<PlanCost> plan{};  ///< of a plan: links, bandwidths, notes (docs/plan-costs.md)
};

/// Of a plan on the topology of the options, or of a schedule on its instance's. Judges it first: throws
/// InputError with the first violation if it is wrong, or where it does not fit the topology; LimitError when
/// interrupted. Precondition: the files are one plan, or an instance and one schedule.
[[nodiscard]] Cost cost(const JudgeOptions& options, const Watch& watch = {});

}  // namespace tutti::app
