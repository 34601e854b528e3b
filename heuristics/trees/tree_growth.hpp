#pragma once

#include "core/busy_intervals.hpp"
#include "heuristics/flood/flood_network.hpp"

namespace tutti::heuristics {

/// A transfer of a tree.
struct TreeSend {
    std::uint32_t hop;
    Ticks start;
};

/// When a hop is busy, and for which spread.
using OwnedIntervals = BusyIntervals<Ticks, std::uint32_t>;

/// Grows the tree of one chunk by earliest arrival through the gaps that others left (tree_growth.cpp).
/// Reuses its arrays from tree to tree.
class TreeGrowth {
  public:
    /// All must outlive this.
    TreeGrowth(const SpreadProblem& problem, const FloodNetwork& network,
               std::span<const OwnedIntervals> busy);

    /// The transfers that bring the spread to its targets, each after the one it depends on, into `tree`; not
    /// reserved. A relay that is no target adds a cost of `penalties.relay` tenths of its hop's busy time,
    /// and any hop a random cost of up to `penalties.noise` tenths. False: a target cannot be reached. O(hops
    /// * (log nodes + gaps)) where all nodes are targets, times the targets at worst.
    struct Penalties {
        std::int64_t relay, noise;
    };
    [[nodiscard]] bool grow(std::size_t spread, Penalties penalties, Rng& rng, std::vector<TreeSend>& tree);

  private:
    /// How a node could be reached.
    struct Label {
        Ticks cost;  ///< the arrival and the penalties on the way from the tree
        Ticks arrival;
        Ticks penalties;
        Ticks start;
        std::uint32_t hop;
    };
    enum class Place : std::uint8_t { Unseen, Seen, Tree };
    struct Entry {
        Ticks cost;
        std::uint32_t node;
        bool operator<(const Entry& other) const {
            return cost != other.cost ? cost > other.cost : node > other.node;
        }
    };
    void enter(std::uint32_t node, const Label& label);
    void look_from(std::uint32_t node, std::size_t spread, Penalties penalties, std::uint64_t turn);
    void join(std::uint32_t node, std::size_t spread, std::vector<TreeSend>& tree);
    [[nodiscard]] Ticks earliest(std::size_t hop, std::size_t spread, Ticks ready) const;

    const SpreadProblem& problem_;
    const FloodNetwork& net_;
    std::span<const OwnedIntervals> busy_;  ///< by hop
    const bool has_bookings_;
    std::vector<Label> labels_;
    std::vector<Place> places_;
    std::vector<std::uint8_t> wanted_;
    std::vector<Entry> heap_;
    std::vector<std::uint32_t> path_;
};

}  // namespace tutti::heuristics
