#pragma once

#include "heuristics/hop_graph.hpp"

#include <vector>

namespace tutti::heuristics {

/// A hierarchy of clusters separated by slow or long links: servers of a cluster, the leaves and pods of a
/// fat tree, the routers and groups of a dragonfly. One partition of the stops for each level, from fine to
/// coarse, each coarser than the previous one. Some part of the finest has at least two NPUs; the coarsest
/// has at least two parts with NPUs. There may be no level.
class SwitchClusters {
  public:
    /// Times are those of `chunk`. O(hops log hops).
    SwitchClusters(const HopGraph& graph, ChunkId chunk);

    [[nodiscard]] std::size_t levels() const { return parts_.size(); }
    [[nodiscard]] std::size_t clusters(std::size_t level) const { return rates_[level].size(); }
    /// The number of the node's cluster.
    [[nodiscard]] std::uint32_t cluster(std::size_t level, NodeId node) const {
        return parts_[level][node.index()];
    }
    /// The most chunks per tick over all links into the cluster.
    [[nodiscard]] double rate(std::size_t level, std::uint32_t cluster) const {
        return rates_[level][cluster];
    }
    /// The first level at which the two are in one cluster, levels() if there is none.
    [[nodiscard]] std::size_t meeting(NodeId a, NodeId b) const {
        std::size_t level = 0;
        while (level < parts_.size() && cluster(level, a) != cluster(level, b)) ++level;
        return level;
    }

  private:
    void measure_rates(const HopGraph& graph, ChunkId chunk);

    std::vector<std::vector<std::uint32_t>> parts_;
    std::vector<std::vector<double>> rates_;
};

}  // namespace tutti::heuristics
