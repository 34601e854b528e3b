#pragma once

#include "heuristics/spread.hpp"

#include <string>

namespace tutti::heuristics {

/// The best of the given number of runs of the matcher: every variant, then the best ones with deadlines.
/// Ends early at the problem's target. After `stop` the best so far; none if there is none, or where flooding
/// does not apply. The same rng and runs give the same result, unless stopped. Transfers in order of start.
[[nodiscard]] std::optional<SpreadSolution> flood_search(const SpreadProblem& problem, Rng& rng,
                                                         const Stop& stop, std::size_t runs);

/// Why flood_search cannot solve the problem; empty if it may.
[[nodiscard]] std::string why_no_flood(const SpreadProblem& problem);

}  // namespace tutti::heuristics
