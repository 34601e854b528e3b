#pragma once

#include "heuristics/bit_rows.hpp"
#include "heuristics/clusters.hpp"

namespace tutti::heuristics {

/// Which chunks make a detour when they cross from one cluster into another: those that would have reached it
/// sooner another way, counting only the links between clusters. While entrances are tight, direct ways leave
/// the detours free for those who have no other.
class ClusterWays {
  public:
    /// O(clusters * hops * log + crossings * spreads) time, a bit for each crossing and spread.
    ClusterWays(const FloodNetwork& network, const ClusterLevel& level, const std::vector<Spread>& spreads);

    /// The chunks that a hop between clusters would take on a detour, as a row of bits.
    [[nodiscard]] const Word* detours(std::size_t hop) const { return rows_.row(row_of_[hop]); }

  private:
    std::vector<std::uint32_t> row_of_;  ///< per hop
    BitRows rows_;
};

}  // namespace tutti::heuristics
