#include "heuristics/trees/priced_ways.hpp"

#include <numeric>

namespace tutti::heuristics {

PricedWays::PricedWays(const SpreadProblem& problem, const HopTimes& times, const PriceShape& shape)
    : graph_(problem.graph), prices_(problem, times, shape) {
    for (std::size_t n = 0; n < graph_.nodes(); ++n) {
        for (const HopId hop : graph_.out(NodeId(n))) ways_.push_back({graph_.hop(hop).to, hop});
        begin_.push_back(static_cast<std::uint32_t>(ways_.size()));
    }
    costs_.resize(ways_.size() * times.kinds());
    users_begin_.assign(prices_.loads().size() + 1, 0);
    for (const Way& way : ways_) {
        for (const LinkId link : graph_.hop(way.hop).legs) ++users_begin_[link.index() + 1];
    }
    std::partial_sum(users_begin_.begin(), users_begin_.end(), users_begin_.begin());
    users_.resize(users_begin_.back());
    auto next = users_begin_;
    for (std::size_t w = 0; w < ways_.size(); ++w) {
        for (const LinkId link : graph_.hop(ways_[w].hop).legs) {
            users_[next[link.index()]++] = static_cast<std::uint32_t>(w);
        }
    }
    set_base(1);
}

void PricedWays::set_base(std::int64_t base) {
    prices_.set_base(base);
    for (std::size_t way = 0; way < ways_.size(); ++way) set_cost(static_cast<std::uint32_t>(way));
}

void PricedWays::update(HopId hop) {
    for (const LinkId link : graph_.hop(hop).legs) {
        for (std::uint32_t u = users_begin_[link.index()]; u < users_begin_[link.index() + 1]; ++u) {
            set_cost(users_[u]);
        }
    }
}

void PricedWays::set_cost(std::uint32_t way) {
    const std::size_t kinds = prices_.kinds();
    for (std::uint32_t kind = 0; kind < kinds; ++kind) {
        const HopId hop = ways_[way].hop;
        costs_[kind * ways_.size() + way] = prices_.price(hop, kind) + prices_.toll(hop, kind);
    }
}

}  // namespace tutti::heuristics
