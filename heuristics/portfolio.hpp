#pragma once

#include "core/candidate.hpp"
#include "heuristics/effort.hpp"
#include "heuristics/heuristic.hpp"

namespace tutti::heuristics {

struct SpreadRequest {
    Effort effort = Effort::Quick;
    unsigned threads = 1;
    const Heuristic* alone = nullptr;  ///< ask only this one; null: all that have a turn
    /// Ends the search where there is a solution by then: time is shared between phases, but a phase without
    /// a solution would waste the share of all others. None: the stop.
    std::optional<Stop> turn{};
};

struct SpreadResult {
    std::optional<SpreadSolution> solution = {};
    std::string heuristic = {};              ///< who made it
    std::vector<Candidate> candidates = {};  ///< in the order of their first turns
};

/// The best solution of all heuristics that are tried on the problem, over several seeds, then repaired.
/// Tries are drawn in a fixed order and run `threads` at a time, so the result depends only on the rng and
/// the number of threads, unless stopped. Raises the problem's target to its port bound. No solution: stopped
/// before there was one, or a target cannot be reached, or the heuristic that ran alone found none.
[[nodiscard]] SpreadResult best_spread(SpreadProblem& problem, const SpreadRequest& request, Rng& rng,
                                       const Stop& stop);

/// Adds the result of a heuristic, or one more try if it is already listed.
void enter(std::vector<Candidate>& candidates, Candidate candidate);

}  // namespace tutti::heuristics
