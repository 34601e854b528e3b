#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// Shortens a solution: removes late arrivals from its trees and grows these again in the remaining gaps.
/// Never longer than the given solution; after `stop`, the best so far.
[[nodiscard]] SpreadSolution trimmed(const SpreadProblem& problem, SpreadSolution solution, Rng& rng,
                                     const Stop& stop);

}  // namespace tutti::heuristics
