#pragma once

#include "heuristics/trees/timed_growth.hpp"

#include <optional>

namespace tutti::heuristics {

/// The timed trees of all spreads, and the calendar with their bookings.
struct TimedForest {
    TimedGrowth growth;
    std::vector<std::vector<Transfer>> trees;  ///< by spread; parents before children
};

/// Completes trees that cannot grow to all targets by the deadline: a transfer of another tree gives up its
/// time slot, and that tree is grown again (tree_exchange.cpp). For networks where every hop is one link and
/// every node branches.
class TreeExchange {
  public:
    TreeExchange(const SpreadProblem& problem, TimedForest& forest, Ticks deadline, Rng& rng,
                 const Stop& stop);

    /// Whether the tree of the spread now has all its targets; if not, nothing has changed. Tries a limited
    /// number of exchanges, in all calls together.
    bool complete(std::uint32_t spread) { return complete(spread, 0); }

  private:
    struct Occupant {
        std::uint32_t spread;
        Ticks start;
    };
    struct Place {
        HopId hop;
        Occupant occupant;
    };
    struct Snapshot {
        std::uint32_t spread;
        std::vector<Transfer> tree;
    };
    bool complete(std::uint32_t spread, unsigned depth);
    std::optional<NodeId> missing_target(std::uint32_t spread);
    bool bring(std::uint32_t spread, NodeId target, unsigned depth);
    bool extend(std::uint32_t spread, NodeId node);
    bool regrow(const Spread& goal, std::uint32_t spread, std::vector<Transfer> rest);
    [[nodiscard]] std::vector<Place> places_on(HopId hop, std::uint32_t spread);
    bool take(const Place& place, std::uint32_t spread, unsigned depth);
    void replace(std::uint32_t spread, std::vector<Transfer> tree);
    void clear(std::uint32_t spread);
    void set(std::uint32_t spread, std::vector<Transfer> tree);
    void roll_back(std::size_t mark);

    const SpreadProblem& problem_;
    TimedForest& forest_;
    const Ticks deadline_;
    Rng& rng_;
    const Stop& stop_;
    std::uint64_t tries_left_;
    std::vector<std::vector<Occupant>> occupants_;  ///< by hop
    std::vector<std::uint64_t> in_tree_;            ///< by node: the look at a tree in which it is there
    std::vector<Ticks> arrivals_;                   ///< by node of that tree
    std::uint64_t look_ = 0;
    std::vector<Snapshot> journal_;  ///< what trees were before
};

}  // namespace tutti::heuristics
