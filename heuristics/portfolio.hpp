#pragma once

#include "heuristics/effort.hpp"
#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// The best solution of all heuristics that suit the problem, over several seeds, then repaired. Tries are
/// drawn in a fixed order and run `threads` at a time, so the answer depends on the rng and the number of
/// threads alone, unless stopped. Raises the problem's target to what its ports need. None: stopped before
/// there was one, or a target cannot be reached.
[[nodiscard]] std::optional<SpreadSolution> best_spread(SpreadProblem& problem, Effort effort, Rng& rng,
                                                        unsigned threads, const Stop& stop);

}  // namespace tutti::heuristics
