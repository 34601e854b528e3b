#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// Chunk by chunk, grows a tree to the targets by earliest arrival through the gaps that earlier chunks left.
/// Supports everything: relays outside the group, switches of all kinds, links booked before.
[[nodiscard]] std::optional<SpreadSolution> insert_trees(const SpreadProblem& problem, Rng& rng,
                                                         const Stop& stop);

}  // namespace tutti::heuristics
