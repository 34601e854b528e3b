#pragma once

#include "heuristics/spread.hpp"

#include <string>

namespace tutti::heuristics {

/// Improves a solution by removing a few chunks' trees and growing them again (repair.cpp), until the target
/// is met, `moves` moves were tried, or `stop`: always returns the best so far, at worst the given solution.
/// The same rng and moves give the same result, unless stopped.
///
/// Any demands, relays and booked links, on networks where each hop is one link and every node may branch;
/// elsewhere it returns the given solution. A move takes O(chunks taken * hops * (log nodes + transfers per
/// hop)): some 8,000 moves a second on 64 nodes with a chunk each, 1,500 on 128. Memory O(transfers).
[[nodiscard]] SpreadSolution improve(const SpreadProblem& problem, SpreadSolution best, Rng& rng,
                                     const Stop& stop, std::uint64_t max_moves);

/// Why improve() leaves solutions of the problem as they are; empty if it may change them.
[[nodiscard]] std::string why_no_repair(const SpreadProblem& problem);

}  // namespace tutti::heuristics
