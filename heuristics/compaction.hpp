#pragma once

#include "core/schedule.hpp"
#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// A transfer that knows what it does to its destination.
struct Move {
    Transfer transfer;
    Op op = Op::Copy;
};

/// The last arrival.
[[nodiscard]] Ticks makespan_of(const HopGraph& graph, const std::vector<Move>& moves);

/// Moves every transfer as early as its chunk, its links and the releases allow, keeping who depends on whom.
/// Closes the gaps between the halves of an all-reduce, and between collectives. Never makes the makespan
/// longer. O(moves log moves).
[[nodiscard]] std::vector<Move> compacted(const HopGraph& graph, std::vector<Move> moves);

}  // namespace tutti::heuristics
