#pragma once

#include "heuristics/flood/flood_network.hpp"

namespace tutti::heuristics {

/// How much lies behind each node: for a chunk at a node, the longest time it still needs, from there, to
/// nodes that it reaches soonest through this one. A chunk with much behind it is urgent when latency counts.
class Heights {
  public:
    /// O(distinct sources * hops * log nodes) time, O(distinct sources * nodes) memory. Incomplete if
    /// stopped.
    Heights(const FloodNetwork& network, const std::vector<Spread>& spreads, const Stop& stop);

    /// In a unit of its own.
    [[nodiscard]] std::uint32_t at(std::size_t spread, std::size_t node) const {
        return heights_[row_of_[spread] * nodes_ + node];
    }

  private:
    std::size_t nodes_;
    std::vector<std::size_t> row_of_;  ///< per spread
    std::vector<std::uint32_t> heights_;
};

}  // namespace tutti::heuristics
