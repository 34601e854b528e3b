#pragma once

#include "core/expects.hpp"
#include "heuristics/paths/link_prices.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// Cheapest paths to a target at the current prices.
class PathSearch {
  public:
    /// Both must outlive this.
    PathSearch(const HopGraph& graph, const LinkPrices& prices);

    /// The cheapest among the paths of fewest hops from each source: `distance` counts the hops to the target
    /// by node, and each hop must lead one nearer. The result stays valid until the next search; empty if no
    /// source reaches the target. O(hops between the sources and the target).
    [[nodiscard]] std::span<const HopId> shortest(std::span<const NodeId> sources, NodeId target,
                                                  std::uint32_t kind,
                                                  std::span<const std::uint16_t> distance);
    /// Computes the cost from every node to the target, along paths of fewest hops, for `follow`.
    /// `nearest_first` are the nodes that reach it. O(hops into all of them but the farthest).
    void survey(std::span<const std::uint32_t> nearest_first, std::uint32_t kind,
                std::span<const std::uint16_t> distance);
    /// As `shortest`, but with the costs of the last survey beyond the next hop. Good as long as prices have
    /// changed little since, and several times faster. O(hops that lead nearer from the nodes
    /// on the path).
    [[nodiscard]] std::span<const HopId> follow(std::span<const NodeId> sources, std::uint32_t kind,
                                                std::span<const std::uint16_t> distance);
    /// The cheapest of all paths, penalties included. O(hops log nodes).
    [[nodiscard]] std::span<const HopId> any(std::span<const NodeId> sources, NodeId target,
                                             std::uint32_t kind, std::span<const std::uint16_t> distance);

    /// The prices of the cheapest paths from the sources to all nodes, without penalties and forwarding
    /// rules, for `price_to`. O(hops log nodes).
    void price_everywhere(std::span<const NodeId> sources, std::uint32_t kind);
    /// Precondition: a source of the last price_everywhere reaches it.
    [[nodiscard]] double price_to(NodeId target) const {
        expects(labels_[target.index()].search == search_);
        return labels_[target.index()].cost;
    }

  private:
    struct Label {
        std::uint64_t search = 0;
        double cost = 0;
        HopId by;
        std::uint32_t from = 0;
    };
    struct Entry {
        double bound;  ///< cost so far and the least still to come
        double cost;
        std::uint32_t node;
        bool operator<(const Entry& other) const { return bound > other.bound; }
    };
    /// A hop that leads one nearer, and the one from the same node that was found before it.
    struct Step {
        std::uint32_t to;
        HopId hop;
        std::uint32_t before;
    };
    static constexpr std::uint32_t kSource = UINT32_MAX;
    static constexpr std::uint32_t kNoStep = UINT32_MAX;

    [[nodiscard]] bool improve(std::uint32_t node, double cost, HopId by, std::uint32_t from);
    [[nodiscard]] std::span<const HopId> trace(NodeId target);

    const HopGraph& graph_;
    const LinkPrices& prices_;
    std::vector<double> to_go_;             ///< by node, of the last survey
    std::vector<Step> steps_;               ///< all that lead nearer, of the last survey
    std::vector<std::uint32_t> last_step_;  ///< by node
    std::vector<double> least_toll_;        ///< by kind
    std::vector<Label> labels_;
    std::uint64_t search_ = 0;
    std::vector<std::uint32_t> layer_, next_layer_;
    std::vector<Entry> heap_;
    std::vector<HopId> path_;
};

}  // namespace tutti::heuristics
