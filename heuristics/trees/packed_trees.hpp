#pragma once

#include "heuristics/spread.hpp"

#include <string>

namespace tutti::heuristics {

/// Why the problem is no broadcast of chunks that are alike on a network of NPUs; empty if it is.
[[nodiscard]] std::string why_no_packed_trees(const SpreadProblem& problem);

/// Trees from the sources to all NPUs of which no two share a link; each carries a part of the chunks, one
/// after the other. `tries` is work: so many times the sends of the schedule. None: it does not apply, no
/// trees were found, or `stop` came first. O(trees * hops) a packing.
[[nodiscard]] std::optional<SpreadSolution> packed_trees(const SpreadProblem& problem, Rng& rng,
                                                         const Stop& stop, std::size_t tries);

}  // namespace tutti::heuristics
