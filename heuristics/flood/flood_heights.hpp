#pragma once

#include "heuristics/flood/flood_network.hpp"

namespace tutti::heuristics {

/// Heights in the shortest-path trees: for a chunk at a node, the longest time from there to the nodes that
/// it reaches soonest through this one. A chunk with a large height is urgent when latency matters.
class Heights {
  public:
    /// O(distinct sources * hops * log nodes) time, O(distinct sources * nodes) memory. Incomplete if
    /// stopped.
    Heights(const FloodNetwork& network, const std::vector<Spread>& spreads, const Stop& stop);

    /// In scaled units.
    [[nodiscard]] std::uint32_t at(std::size_t spread, std::size_t node) const {
        return heights_[row_of_[spread] * nodes_ + node];
    }

  private:
    std::size_t nodes_;
    std::vector<std::size_t> row_of_;  ///< per spread
    std::vector<std::uint32_t> heights_;
};

}  // namespace tutti::heuristics
