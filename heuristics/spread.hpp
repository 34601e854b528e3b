#pragma once

#include "core/rng.hpp"
#include "core/search_options.hpp"
#include "core/stop.hpp"
#include "heuristics/link_calendar.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// A chunk, its sources and its targets: the common form of all demands (reductions after time reversal). The
/// lists belong to the instance or the caller: an all-to-all has millions of spreads, and none owns memory.
struct Spread {
    ChunkId chunk;
    std::span<const NodeId> sources;
    Ticks ready;                      ///< when the sources have it
    std::span<const NodeId> targets;  ///< sorted; may name sources too
};

/// A chunk takes a hop.
struct Transfer {
    HopId hop;
    ChunkId chunk;
    Ticks start;
};

/// The input of a heuristic: spreads, on a network whose links may be booked already.
struct SpreadProblem {
    const HopGraph& graph;
    std::vector<Spread> spreads;
    LinkCalendar calendar;
    Ticks target;  ///< no solution is shorter; reaching it ends the search. 0: nothing is known
    SearchOptions options = {};
};

/// Transfers in no particular order, and the last arrival.
struct SpreadSolution {
    std::vector<Transfer> transfers;
    Ticks makespan;
};

/// None: it cannot solve the problem, or `stop` came first.
using SpreadHeuristic = std::optional<SpreadSolution> (*)(const SpreadProblem&, Rng&, const Stop&);

}  // namespace tutti::heuristics
