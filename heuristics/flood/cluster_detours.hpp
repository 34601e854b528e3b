#pragma once

#include "heuristics/flood/bit_rows.hpp"
#include "heuristics/flood/clusters.hpp"

namespace tutti::heuristics {

/// Which chunks make a detour when they cross from one cluster into another: those with a shorter path to it,
/// counting only the links between clusters. While the links into clusters are the bottleneck, direct paths
/// leave those links to chunks that have no other path.
class ClusterDetours {
  public:
    /// O(clusters * hops * log + crossings * spreads) time, a bit for each crossing and spread.
    ClusterDetours(const FloodNetwork& network, const ClusterLevel& level,
                   const std::vector<Spread>& spreads);

    /// A row for each crossing, from one cluster into another: the chunks that would make a detour there.
    [[nodiscard]] const BitRows& detours() const { return rows_; }
    /// Precondition: the hop leads from one cluster into another.
    [[nodiscard]] std::size_t crossing(std::size_t hop) const { return row_of_[hop]; }

  private:
    std::vector<std::uint32_t> row_of_;  ///< per hop
    BitRows rows_;
};

}  // namespace tutti::heuristics
