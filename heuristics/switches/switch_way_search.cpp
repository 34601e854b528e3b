// A walk from the holder that comes one hop nearer to the leaf with every step, depth first, from a random
// hop at each switch, so that equal paths share the load. The first way without waiting ends it; so do
// kWaysTried ways.

#include "heuristics/switches/switch_way_search.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kWaysTried = 12;

}  // namespace

bool WaySearch::can_leave(NodeId holder, HopId last, Ticks now) const {
    const NodeId leaf = graph_.from(last);
    if (leaf == holder) return is_free(last, now);
    const auto distances = ways_.distances(leaf);
    return std::ranges::any_of(ways_.onward(holder), [&](const SwitchWays::Onward& onward) {
        return distances[onward.fabric] != SwitchWays::kFar && is_free(onward.hop, now);
    });
}

bool WaySearch::find(NodeId holder, HopId last, ChunkId chunk, Ticks now) {
    way_.clear();
    path_.clear();
    const NodeId leaf = graph_.from(last);
    if (leaf == holder) {
        if (calendar_.earliest(graph_, last, chunk, now) == now) way_.push_back({last, now});
        return !way_.empty();
    }
    distances_ = ways_.distances(leaf);
    last_ = last;
    chunk_ = chunk;
    last_start_ = Ticks::max();
    patience_ = busy(last);
    left_ = kWaysTried;
    std::uint16_t nearest = SwitchWays::kFar;
    for (const auto& onward : ways_.onward(holder)) nearest = std::min(nearest, distances_[onward.fabric]);
    walk(holder, nearest, now, true);
    return !way_.empty();
}

/// These three: whether the rest of the way needs no waiting; the search is over then.
bool WaySearch::walk(NodeId at, std::uint16_t distance, Ticks ready, bool first) {
    const auto onward = ways_.onward(at);
    std::size_t i = onward.size() > 1 ? rng_.below(onward.size()) : 0;
    for (std::size_t k = 0; k < onward.size() && left_ > 0; ++k, ++i) {
        if (i >= onward.size()) i = 0;
        if (distances_[onward[i].fabric] == distance && step(onward[i], distance, ready, first)) return true;
    }
    return false;
}

bool WaySearch::step(const SwitchWays::Onward& onward, std::uint16_t distance, Ticks ready, bool first) {
    const Ticks start = calendar_.earliest(graph_, onward.hop, chunk_, ready);
    if (start != ready && (first || start - ready >= std::max(patience_, busy(onward.hop)))) {
        --left_;
        return false;
    }
    path_.push_back({onward.hop, start});
    const Ticks there = start + graph_.transit(onward.hop, chunk_);
    const bool found = distance > 0 ? walk(onward.to, static_cast<std::uint16_t>(distance - 1), there, false)
                                    : finish(there);
    path_.pop_back();
    return found && start == ready;
}

bool WaySearch::finish(Ticks ready) {
    --left_;
    const Ticks start = calendar_.earliest(graph_, last_, chunk_, ready);
    if (start - ready >= patience_) return false;
    if (start < last_start_) {
        last_start_ = start;
        way_ = path_;
        way_.push_back({last_, start});
    }
    return start == ready;
}

Ticks WaySearch::busy(HopId hop) const {
    const LinkId link = graph_.legs(hop).front();
    return graph_.instance().busy(link, graph_.instance().beta(link, chunk_));
}

}  // namespace tutti::heuristics
