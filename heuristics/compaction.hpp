#pragma once

#include "core/schedule.hpp"
#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// A transfer with the graph of its hop and its op at the destination.
struct Move {
    const HopGraph* graph;
    Transfer transfer;
    Op op = Op::Copy;

    [[nodiscard]] Ticks arrival() const {
        return transfer.start + graph->transit(transfer.hop, transfer.chunk);
    }
};

/// The last arrival.
[[nodiscard]] Ticks makespan_of(const std::vector<Move>& moves);

/// The sends of the moves, leg by leg, in order.
[[nodiscard]] Schedule schedule_of(const Instance& instance, const std::vector<Move>& moves);

/// Starts every transfer as early as its chunk, its links and the releases allow, in the order of the given
/// starts, with the same dependencies. The given starts may overlap on links. O(moves log moves).
[[nodiscard]] std::vector<Move> retimed(std::vector<Move> moves);

/// The same, unless that would be longer than the given schedule. Closes the gaps between the halves of an
/// all-reduce and between collectives.
[[nodiscard]] std::vector<Move> compacted(const std::vector<Move>& moves);

}  // namespace tutti::heuristics
