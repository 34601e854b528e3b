#pragma once

#include "core/candidate.hpp"
#include "heuristics/effort.hpp"
#include "heuristics/heuristic.hpp"

namespace tutti::heuristics {

struct SpreadRequest {
    Effort effort = Effort::Quick;
    unsigned threads = 1;
    const Heuristic* alone = nullptr;  ///< ask only this one; null: all that have a turn
};

struct SpreadResult {
    std::optional<SpreadSolution> solution = {};
    std::string heuristic = {};              ///< who made it
    std::vector<Candidate> candidates = {};  ///< in the order of their first turns
};

/// The best solution of all heuristics that have a turn on the problem, over several seeds, then repaired.
/// Tries are drawn in a fixed order and run `threads` at a time, so the answer depends on the rng and the
/// number of threads alone, unless stopped. Raises the problem's target to what its ports need. No solution:
/// stopped before there was one, or a target cannot be reached, or the one that was asked alone found none.
[[nodiscard]] SpreadResult best_spread(SpreadProblem& problem, const SpreadRequest& request, Rng& rng,
                                       const Stop& stop);

/// Enters what a heuristic reached. One that is there already has one more try.
void enter(std::vector<Candidate>& candidates, Candidate candidate);

}  // namespace tutti::heuristics
