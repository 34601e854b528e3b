#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// Shortens a solution: cuts what arrives late off its trees and grows it again, from the rest of the tree,
/// in the gaps that the links still have. Never longer than what is given; after `stop`, the best so far.
[[nodiscard]] SpreadSolution trimmed(const SpreadProblem& problem, SpreadSolution solution, Rng& rng,
                                     const Stop& stop);

}  // namespace tutti::heuristics
