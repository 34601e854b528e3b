#pragma once

#include "heuristics/paths/link_prices.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// The costs of the hops out of each node at the current prices, stored for searches that visit every hop for
/// every chunk while few prices change in between.
class HopCosts {
  public:
    /// The problem's graph must outlive this.
    HopCosts(const SpreadProblem& problem, const HopTimes& times, const PriceShape& shape);

    /// Price and penalty of each hop out of the node, in the graph's order, for chunks of one kind.
    [[nodiscard]] std::span<const double> costs(NodeId node, std::uint32_t kind) const {
        return std::span(costs_).subspan(kind * graph_.hops() + graph_.first_out(node),
                                         graph_.out(node).size());
    }
    [[nodiscard]] double penalty(HopId hop, std::uint32_t kind) const { return prices_.penalty(hop, kind); }
    [[nodiscard]] std::span<const std::int64_t> loads() const { return prices_.loads(); }

    /// Adds permanent load; counts from the next base on.
    void take(LinkId link, std::int64_t load) { prices_.take(link, load); }
    /// See LinkPrices. O(hops).
    void set_base(std::int64_t base);
    /// O(hops that share a link with it).
    void add(HopId hop, std::uint32_t kind) {
        prices_.add(hop, kind);
        update(hop);
    }
    void remove(HopId hop, std::uint32_t kind) {
        prices_.remove(hop, kind);
        update(hop);
    }

  private:
    void update(HopId hop);
    void set_cost(std::uint32_t place);

    const HopGraph& graph_;
    LinkPrices prices_;
    std::vector<HopId> hop_at_;                       ///< by place in the graph's lists, node by node
    std::vector<double> costs_;                       ///< by kind and place
    std::vector<std::uint32_t> users_begin_, users_;  ///< by link: the places of the hops over it
};

}  // namespace tutti::heuristics
