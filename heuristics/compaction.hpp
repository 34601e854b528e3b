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

/// Starts every transfer as early as its chunk, its links and the releases allow, in the order of the given
/// starts, keeping who depends on whom. What is given need not fit the links. O(moves log moves).
[[nodiscard]] std::vector<Move> retimed(const HopGraph& graph, std::vector<Move> moves);

/// The same, unless that would end later than what is given. Closes the gaps between the halves of an
/// all-reduce and between collectives.
[[nodiscard]] std::vector<Move> compacted(const HopGraph& graph, const std::vector<Move>& moves);

}  // namespace tutti::heuristics
