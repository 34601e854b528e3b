#pragma once

#include "core/rng.hpp"
#include "heuristics/exchange/exchanges.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// How a tree is grown.
struct GrowthStyle {
    double depth = 0.5;  ///< the weight of the time from the root, against the price of full links
    int steepness = 3;   ///< prices are loads to the power of two to this
    double noise = 0;    ///< prices are raised by up to this share, at random
};

/// Grows trees for chunks, over members and relays, so that no link carries much more than others.
class TreeGrower {
  public:
    /// The graph must outlive this.
    TreeGrower(const MessageGraph& graph, Rng rng);

    /// A tree from the root to all members, at prices of the present loads. No edges: a member is out of
    /// reach. O(messages of the network * log) times the number of relays, about.
    [[nodiscard]] SumTree grow(ChunkId chunk, std::span<const NodeId> members, NodeId root,
                               const GrowthStyle& style);
    /// Counts the tree's messages, both ways, as load, or no longer.
    void add(const SumTree& tree) { count(tree, 1); }
    void remove(const SumTree& tree) { count(tree, -1); }

  private:
    void count(const SumTree& tree, int sign);
    [[nodiscard]] double price(NodeId from, NodeId to, ChunkId chunk, const GrowthStyle& style);
    void set_weights(const GrowthStyle& style);

    const MessageGraph& graph_;
    Rng rng_;
    std::vector<double> load_;    ///< by link: how long it is busy
    std::vector<double> weight_;  ///< by link: the price of a tick
    std::vector<LegTime> legs_;
};

/// The best trees that a local search finds: it starts from textbook trees and grown ones, and grows a few of
/// them again, as often as `tries` says. None: no tree serves the demands, or `stop` came first.
[[nodiscard]] std::optional<Schedule> grow_exchange(const Exchanges& exchanges, Ticks target,
                                                    std::uint64_t seed, std::uint64_t tries,
                                                    const Stop& stop);

}  // namespace tutti::heuristics
