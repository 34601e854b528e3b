#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// Transfers that gather (`starts` in forward time) and transfers that spread the sums.
struct PipelinedAllReduce {
    std::vector<Transfer> gather, spread;
    Ticks makespan;
};

/// All-reduces whose early sums are spread while later ones still gather. `gather` is a problem on the
/// reversed network, from each root to all holders; `spread` has the same chunks in the same order, on the
/// original network, from the root to all receivers. Direct networks without bookings only; else, or if
/// `stop` came first, none. Stops at `spread.target`. O(rounds * spreads * hops * log nodes).
[[nodiscard]] std::optional<PipelinedAllReduce> pipeline_all_reduce(const SpreadProblem& gather,
                                                                    const SpreadProblem& spread, Rng& rng,
                                                                    const Stop& stop);

}  // namespace tutti::heuristics
