#pragma once

#include "core/stop.hpp"
#include "heuristics/hop_graph.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace tutti::heuristics {

/// Shortest paths between pairs of NPUs, in hops. Pairs are requested first, then all paths are found, with
/// one breadth-first search per source.
class RingPaths {
  public:
    using PathId = std::uint32_t;

    /// The graph must outlive this.
    explicit RingPaths(const HopGraph& graph) : graph_(graph) {}

    /// A path over nodes that may carry the collective's chunks.
    [[nodiscard]] PathId request(CollectiveId collective, NodeId from, NodeId to);
    /// Finds all requested paths. False: stopped, or there is no path for one of the pairs.
    [[nodiscard]] bool find(const Stop& stop);
    [[nodiscard]] std::span<const HopId> path(PathId id) const { return paths_[id]; }

  private:
    /// The collective whose members alone may relay, plus one; 0 where every node may.
    using Rule = std::uint32_t;
    using Pair = std::tuple<Rule, NodeId, NodeId>;
    using Known = std::map<Pair, PathId>;

    [[nodiscard]] Rule rule_of(CollectiveId collective) const;
    /// The paths of pairs with the same rule and source. False: one has none.
    bool search(Known::const_iterator first, Known::const_iterator last);

    const HopGraph& graph_;
    Known known_;
    std::vector<std::vector<HopId>> paths_;
    std::vector<std::uint32_t> seen_;  ///< by node: the last search that reached it
    std::vector<HopId> by_;            ///< by node: the hop that reached it
    std::vector<NodeId> queue_;
    std::uint32_t searches_ = 0;
};

}  // namespace tutti::heuristics
