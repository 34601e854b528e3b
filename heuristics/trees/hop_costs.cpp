#include "heuristics/trees/hop_costs.hpp"

#include <numeric>

namespace tutti::heuristics {

HopCosts::HopCosts(const SpreadProblem& problem, const HopTimes& times, const PriceShape& shape)
    : graph_(problem.graph), prices_(problem, times, shape) {
    for (std::size_t n = 0; n < graph_.nodes(); ++n) {
        for (const HopEnd& out : graph_.out(NodeId(n))) hop_at_.push_back(out.hop);
    }
    costs_.resize(hop_at_.size() * times.kinds());
    users_begin_.assign(prices_.loads().size() + 1, 0);
    for (const HopId hop : hop_at_) {
        for (const LinkId link : graph_.legs(hop)) ++users_begin_[link.index() + 1];
    }
    std::partial_sum(users_begin_.begin(), users_begin_.end(), users_begin_.begin());
    users_.resize(users_begin_.back());
    auto next = users_begin_;
    for (std::size_t place = 0; place < hop_at_.size(); ++place) {
        for (const LinkId link : graph_.legs(hop_at_[place])) {
            users_[next[link.index()]++] = static_cast<std::uint32_t>(place);
        }
    }
    set_base(1);
}

void HopCosts::set_base(std::int64_t base) {
    prices_.set_base(base);
    for (std::size_t place = 0; place < hop_at_.size(); ++place) set_cost(static_cast<std::uint32_t>(place));
}

void HopCosts::update(HopId hop) {
    for (const LinkId link : graph_.legs(hop)) {
        for (std::uint32_t u = users_begin_[link.index()]; u < users_begin_[link.index() + 1]; ++u) {
            set_cost(users_[u]);
        }
    }
}

void HopCosts::set_cost(std::uint32_t place) {
    const std::size_t kinds = prices_.kinds();
    for (std::uint32_t kind = 0; kind < kinds; ++kind) {
        const HopId hop = hop_at_[place];
        costs_[kind * hop_at_.size() + place] = prices_.price(hop, kind) + prices_.penalty(hop, kind);
    }
}

}  // namespace tutti::heuristics
