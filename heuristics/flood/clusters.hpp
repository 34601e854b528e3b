#pragma once

#include "heuristics/flood/flood_network.hpp"

namespace tutti::heuristics {

/// A partition of the NPUs into clusters: the components of the links faster than a threshold (servers,
/// dragonfly groups, rows of an uneven torus).
struct ClusterLevel {
    std::vector<std::uint32_t> cluster_of;              ///< per node
    std::vector<std::vector<std::uint32_t>> entrances;  ///< per cluster, the hops that lead into it
    std::vector<std::vector<std::uint32_t>> exits;      ///< per cluster, the clusters that links lead to
    std::vector<Ticks> slack;    ///< per cluster, the longest that an entrance is busy with a chunk
    std::vector<double> period;  ///< per cluster, ticks for each chunk when all entrances are busy

    [[nodiscard]] std::size_t clusters() const { return entrances.size(); }
    [[nodiscard]] bool crosses(const FloodNetwork& network, std::size_t hop) const {
        return cluster_of[network.from(hop)] != cluster_of[network.to(hop)];
    }
};

/// The most levels that are distinguished.
inline constexpr std::size_t kMaxLevels = 4;

/// One level for each step in the speeds of links that leaves several clusters, some of more than one NPU;
/// the slowest step first. None on networks whose links are equal. O(hops log hops).
[[nodiscard]] std::vector<ClusterLevel> cluster_levels(const FloodNetwork& network);

}  // namespace tutti::heuristics
