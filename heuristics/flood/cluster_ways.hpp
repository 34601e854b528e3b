#pragma once

#include "heuristics/flood/bit_rows.hpp"
#include "heuristics/flood/clusters.hpp"

namespace tutti::heuristics {

/// Which chunks make a detour when they cross from one cluster into another: those that would have reached it
/// sooner another way, counting only the links between clusters. While entrances are tight, direct ways leave
/// the detours free for those who have no other.
class ClusterWays {
  public:
    /// O(clusters * hops * log + crossings * spreads) time, a bit for each crossing and spread.
    ClusterWays(const FloodNetwork& network, const ClusterLevel& level, const std::vector<Spread>& spreads);

    /// A row for each crossing, from one cluster into another: the chunks that would make a detour there.
    [[nodiscard]] const BitRows& detours() const { return rows_; }
    /// Precondition: the hop leads from one cluster into another.
    [[nodiscard]] std::size_t crossing(std::size_t hop) const { return row_of_[hop]; }

  private:
    std::vector<std::uint32_t> row_of_;  ///< per hop
    BitRows rows_;
};

}  // namespace tutti::heuristics
