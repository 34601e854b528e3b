#include "heuristics/paths/link_prices.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {

LinkPrices::LinkPrices(const SpreadProblem& problem, const HopTimes& times, const PriceShape& shape)
    : kinds_(times.kinds()) {
    const HopGraph& graph = problem.graph;
    const std::size_t links = graph.instance().topology().links().size();
    load_.assign(links, 0);
    grain_.assign(links, 0);
    price_.assign(links, 0);
    leg_begin_.push_back(0);
    for (std::size_t h = 0; h < graph.hops(); ++h) {
        for (const LinkId link : graph.hop(HopId(h)).legs) link_.push_back(link.value());
        leg_begin_.push_back(static_cast<std::uint32_t>(link_.size()));
    }
    std::vector<LegTime> legs;
    for (std::uint32_t kind = 0; kind < times.kinds(); ++kind) {
        for (std::size_t h = 0; h < graph.hops(); ++h) {
            graph.leg_times(HopId(h), times.chunk(kind), legs);
            for (const LegTime& leg : legs) {
                const std::int64_t busy = times.units(leg.busy);
                busy_.push_back(busy);
                grain_[leg.link.index()] = std::max(grain_[leg.link.index()], busy);
            }
            penalty_.push_back(shape.penalty * static_cast<double>(times.transit(HopId(h), kind)));
        }
    }
    if (graph.is_simple() && times.kinds() == 1) {
        flat_.assign(graph.hops(), 0);
        hop_of_.assign(links, 0);
        for (std::size_t h = 0; h < link_.size(); ++h) hop_of_[link_[h]] = static_cast<std::uint32_t>(h);
    }
    // Products instead of exp(), whose last digits differ between machines.
    double value = 1;
    for (std::size_t i = kSteps; i > 0; --i) {
        value *= 1 - shape.steepness / static_cast<double>(kSteps);
        exponential_[i - 1] = value;
    }
    value = 1;
    for (std::size_t i = kSteps; i < exponential_.size(); ++i) {
        exponential_[i] = value;
        value *= 1 + shape.steepness / static_cast<double>(kSteps);
    }
    set_base(1);
}

void LinkPrices::set_base(std::int64_t base) {
    expects(base > 0);
    scale_ = static_cast<double>(kSteps) / static_cast<double>(base);
    for (std::size_t link = 0; link < load_.size(); ++link) update(link);
}

void LinkPrices::update(std::size_t link) {
    const double step = static_cast<double>(load_[link] + grain_[link]) * scale_;
    const double last = static_cast<double>(exponential_.size() - 1);
    price_[link] = exponential_[static_cast<std::size_t>(std::min(step, last))];
    if (!flat_.empty()) flat_[hop_of_[link]] = price_[link] * static_cast<double>(grain_[link]);
}

void LinkPrices::change(HopId hop, std::uint32_t kind, std::int64_t sign) {
    for (std::size_t i = leg_begin_[hop.index()]; i < leg_begin_[hop.index() + 1]; ++i) {
        load_[link_[i]] += sign * busy_[kind * link_.size() + i];
        update(link_[i]);
    }
}

double LinkPrices::total() const { return std::accumulate(price_.begin(), price_.end(), 0.0); }

std::int64_t LinkPrices::largest_load() const { return load_.empty() ? 0 : *std::ranges::max_element(load_); }

}  // namespace tutti::heuristics
