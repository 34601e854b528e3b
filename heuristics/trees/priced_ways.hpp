#pragma once

#include "heuristics/paths/link_prices.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// The hops out of each node, with what each costs at the present prices: laid out for searches that look at
/// every hop of the network for every chunk, while only some prices change in between.
class PricedWays {
  public:
    struct Way {
        NodeId to;
        HopId hop;
    };

    PricedWays(const SpreadProblem& problem, const HopTimes& times, const PriceShape& shape);

    /// Positions in `ways` and `costs` of the hops out of the node.
    [[nodiscard]] std::uint32_t begin(NodeId node) const { return begin_[node.index()]; }
    [[nodiscard]] std::uint32_t end(NodeId node) const { return begin_[node.index() + 1]; }
    [[nodiscard]] const std::vector<Way>& ways() const { return ways_; }
    /// Price and toll of each way, for chunks of one kind.
    [[nodiscard]] std::span<const double> costs(std::uint32_t kind) const {
        return std::span(costs_).subspan(kind * ways_.size(), ways_.size());
    }
    [[nodiscard]] double toll(HopId hop, std::uint32_t kind) const { return prices_.toll(hop, kind); }
    [[nodiscard]] std::span<const std::int64_t> loads() const { return prices_.loads(); }

    /// Load that is there whatever is added and removed; counts from the next base on.
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
    void set_cost(std::uint32_t way);

    const HopGraph& graph_;
    LinkPrices prices_;
    std::vector<std::uint32_t> begin_{0};  ///< by node
    std::vector<Way> ways_;
    std::vector<double> costs_;                       ///< by kind and way
    std::vector<std::uint32_t> users_begin_, users_;  ///< by link: the ways over it
};

}  // namespace tutti::heuristics
