#include "heuristics/paths/hop_times.hpp"

#include <map>
#include <numeric>

namespace tutti::heuristics {

HopTimes::HopTimes(const SpreadProblem& problem) : hops_(problem.graph.hops()) {
    const HopGraph& graph = problem.graph;
    std::map<Bytes, std::uint32_t> kinds;
    std::int64_t unit = 0;
    for (std::size_t i = 0; i < problem.spreads.size(); ++i) {
        const Spread& spread = problem.spreads[i];
        const auto [entry, added] = kinds.try_emplace(graph.instance().demand(spread.chunk).bytes,
                                                      static_cast<std::uint32_t>(kinds.size()));
        if (added) chunks_.push_back(spread.chunk);
        if (added && kinds.size() == 2) kind_.assign(problem.spreads.size(), 0);
        if (!kind_.empty()) kind_[i] = entry->second;
        unit = std::gcd(unit, spread.ready.count());
    }
    rows_.resize(hops_ * chunks_.size());
    std::vector<LegTime> legs;
    for (std::size_t kind = 0; kind < chunks_.size(); ++kind) {
        for (std::size_t h = 0; h < hops_; ++h) {
            graph.leg_times(HopId(h), chunks_[kind], legs);
            const Row times{graph.transit(HopId(h), chunks_[kind]).count(), legs.front().busy.count()};
            rows_[kind * hops_ + h] = times;
            unit = std::gcd(unit, times.transit);
            for (const LegTime& leg : legs) unit = std::gcd(unit, leg.busy.count());
        }
    }
    if (unit > 0) unit_ = unit;
    for (Row& row : rows_) {
        row.transit /= unit_;
        row.busy /= unit_;
    }
}

}  // namespace tutti::heuristics
