#include "heuristics/paths/slot_search.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr float kUnreached = std::numeric_limits<float>::infinity();

/// The one target that is no source; none if there is no such target.
std::optional<NodeId> sole_target(const Spread& spread) {
    for (const NodeId target : spread.targets) {
        if (std::ranges::find(spread.sources, target) == spread.sources.end()) return target;
    }
    return std::nullopt;
}

}  // namespace

Journeys::Journeys(const SpreadProblem& problem, const HopTimes& hop_times, Ticks slot)
    : problem_(problem), times_(problem, hop_times, slot) {
    const Instance& instance = problem.graph.instance();
    std::map<std::tuple<NodeId, std::uint32_t, CollectiveId>, std::uint32_t> rows;
    for (std::size_t i = 0; i < problem.spreads.size() && longest_ < kFar; ++i) {
        const auto target = sole_target(problem.spreads[i]);
        if (!target) continue;
        const CollectiveId own = instance.demands().collective(problem.spreads[i].chunk);
        const bool anybody = instance.collective(own).forwarding == Forwarding::Any;
        const std::uint32_t kind = hop_times.kind(i);
        const auto [row, is_new] = rows.try_emplace({*target, kind, anybody ? CollectiveId(UINT32_MAX) : own},
                                                    static_cast<std::uint32_t>(rows.size()));
        if (is_new) add_row(*target, kind, own);
        const std::int64_t ready = (problem.spreads[i].ready.count() + slot.count() - 1) / slot.count();
        const Journey& journey =
            journeys_.emplace_back(Journey{i, *target, kind, static_cast<std::int32_t>(ready), row->second});
        std::int32_t least = kFar;
        for (const NodeId source : sources(journey)) least = std::min(least, rest(journey, source));
        longest_ = least == kFar ? kFar : std::max(longest_, journey.ready + least);
    }
}

void Journeys::add_row(NodeId target, std::uint32_t kind, CollectiveId collective) {
    const std::size_t first = rests_.size();
    rests_.resize(first + graph().nodes(), kFar);
    rests_[first + target.index()] = 0;
    using Entry = std::pair<std::int32_t, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    open.emplace(0, target);
    while (!open.empty()) {
        const auto [rest, at] = open.top();
        open.pop();
        if (rest > rests_[first + at.index()]) continue;
        for (const HopEnd& in : graph().in(at)) {
            const std::int32_t longer = rest + times_.transit(in.hop, kind);
            std::int32_t& known = rests_[first + in.node.index()];
            if (longer >= known || !graph().instance().may_carry(in.node, collective)) continue;
            known = longer;
            open.emplace(longer, in.node);
        }
    }
}

void SlotSearch::run(const Journey& journey, const SlotMarket& market, std::vector<SlotStep>& steps) {
    find_stops(journey);
    for (const std::uint32_t place : order_) {
        wait(place);
        const std::uint32_t end = place + 1 < stops_.size() ? stops_[place + 1].first_way
                                                            : static_cast<std::uint32_t>(ways_.size());
        for (std::uint32_t way = stops_[place].first_way; way < end; ++way)
            go(journey, place, ways_[way], market);
    }
    trace(place_[journey.target.index()], steps);
    for (const Stop& stop : stops_) place_[stop.node.index()] = kNoPlace;
}

bool SlotSearch::leads_on(const Journey& journey, NodeId from, const HopEnd& out) const {
    const std::int32_t rest = journeys_.rest(journey, out.node);
    return rest != Journeys::kFar &&
           rest + journeys_.times().transit(out.hop, journey.kind) == journeys_.rest(journey, from);
}

/// The nodes of quickest paths, the farthest from the target first.
void SlotSearch::find_stops(const Journey& journey) {
    stops_.clear();
    ways_.clear();
    labels_.clear();
    for (const NodeId source : journeys_.sources(journey)) {
        const std::int32_t rest = journeys_.rest(journey, source);
        if (rest == Journeys::kFar || journey.ready + rest > horizon_) continue;
        const std::uint32_t place = enter(journey, source);
        labels_[stops_[place].first + static_cast<std::size_t>(journey.ready)] = {0, kBegins};
    }
    for (std::uint32_t place = 0; place < stops_.size(); ++place) {
        stops_[place].first_way = static_cast<std::uint32_t>(ways_.size());
        const NodeId node = stops_[place].node;
        for (const HopEnd& out : journeys_.graph().out(node)) {
            if (leads_on(journey, node, out)) ways_.push_back({out.hop, enter(journey, out.node)});
        }
    }
    order_.resize(stops_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, std::greater<>(), [&](std::uint32_t p) { return stops_[p].rest; });
}

std::uint32_t SlotSearch::enter(const Journey& journey, NodeId node) {
    std::uint32_t& place = place_[node.index()];
    if (place != kNoPlace) return place;
    place = static_cast<std::uint32_t>(stops_.size());
    stops_.push_back({node, journeys_.rest(journey, node), 0, labels_.size()});
    labels_.resize(labels_.size() + slots_at(place), {kUnreached, kBegins});
    return place;
}

void SlotSearch::wait(std::uint32_t place) {
    const auto labels = std::span(labels_).subspan(stops_[place].first, slots_at(place));
    for (std::size_t slot = 1; slot < labels.size(); ++slot) {
        if (labels[slot - 1].cost < labels[slot].cost) labels[slot] = {labels[slot - 1].cost, kWaits};
    }
}

/// Along the hop, from every slot.
void SlotSearch::go(const Journey& journey, std::uint32_t place, const Way& way, const SlotMarket& market) {
    const std::size_t slots = slots_at(place);
    work_ += slots;
    const auto busy = static_cast<std::size_t>(journeys_.times().busy(way.hop, journey.kind));
    const auto transit = static_cast<std::size_t>(journeys_.times().transit(way.hop, journey.kind));
    const auto prices = market.prices(way.hop);
    const auto from = std::span(labels_).subspan(stops_[place].first, slots);
    const auto to = std::span(labels_).subspan(stops_[way.place].first + transit, slots);
    float price = 0;
    for (std::size_t slot = 0; slot < busy; ++slot) price += prices[slot];
    for (std::size_t slot = 0; slot < slots; ++slot) {
        const float cost = from[slot].cost + std::max(price, 0.F);  // sums are rounded
        if (cost < to[slot].cost) to[slot] = {cost, way.hop.value()};
        if (slot + busy < prices.size()) price += prices[slot + busy] - prices[slot];
    }
}

void SlotSearch::trace(std::uint32_t place, std::vector<SlotStep>& steps) const {
    const auto labels = std::span(labels_).subspan(stops_[place].first, slots_at(place));
    auto slot =
        static_cast<std::int32_t>(std::ranges::min_element(labels, {}, &Label::cost) - labels.begin());
    steps.clear();
    while (true) {
        const Label& label = labels_[stops_[place].first + static_cast<std::size_t>(slot)];
        if (label.hop == kBegins) return;
        if (label.hop == kWaits) {
            --slot;
            continue;
        }
        const HopId hop(label.hop);
        const std::uint32_t from = place_[journeys_.graph().from(hop).index()];
        slot -= stops_[from].rest - stops_[place].rest;
        place = from;
        steps.push_back({hop, slot});
    }
}

}  // namespace tutti::heuristics
