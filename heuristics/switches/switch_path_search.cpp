// A depth-first search from the holder in which every hop leads one nearer to the leaf, beginning with a
// random hop at each switch, so that equal paths share the load. It ends at the first path without waiting,
// or after kPathsTried paths.

#include "heuristics/switches/switch_path_search.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kPathsTried = 12;

}  // namespace

bool PathThroughSwitches::can_leave(NodeId holder, HopId last, Ticks now) const {
    const NodeId leaf = graph_.from(last);
    if (leaf == holder) return is_free(last, now);
    const auto distances = paths_.distances(leaf);
    return std::ranges::any_of(paths_.onward(holder), [&](const SwitchPaths::Onward& onward) {
        return distances[onward.fabric] != SwitchPaths::kFar && is_free(onward.hop, now);
    });
}

bool PathThroughSwitches::find(NodeId holder, HopId last, ChunkId chunk, Ticks now) {
    best_.clear();
    path_.clear();
    const NodeId leaf = graph_.from(last);
    if (leaf == holder) {
        if (calendar_.earliest(graph_, last, chunk, now) == now) best_.push_back({last, now});
        return !best_.empty();
    }
    distances_ = paths_.distances(leaf);
    last_ = last;
    chunk_ = chunk;
    last_start_ = Ticks::max();
    patience_ = busy(last);
    left_ = kPathsTried;
    std::uint16_t nearest = SwitchPaths::kFar;
    for (const auto& onward : paths_.onward(holder)) nearest = std::min(nearest, distances_[onward.fabric]);
    walk(holder, nearest, now, true);
    return !best_.empty();
}

/// This and the next two: whether the rest of the path needs no waiting, which ends the search.
bool PathThroughSwitches::walk(NodeId at, std::uint16_t distance, Ticks ready, bool first) {
    const auto onward = paths_.onward(at);
    std::size_t i = onward.size() > 1 ? rng_.below(onward.size()) : 0;
    for (std::size_t k = 0; k < onward.size() && left_ > 0; ++k, ++i) {
        if (i >= onward.size()) i = 0;
        if (distances_[onward[i].fabric] == distance && step(onward[i], distance, ready, first)) return true;
    }
    return false;
}

bool PathThroughSwitches::step(const SwitchPaths::Onward& onward, std::uint16_t distance, Ticks ready,
                               bool first) {
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

bool PathThroughSwitches::finish(Ticks ready) {
    --left_;
    const Ticks start = calendar_.earliest(graph_, last_, chunk_, ready);
    if (start - ready >= patience_) return false;
    if (start < last_start_) {
        last_start_ = start;
        best_ = path_;
        best_.push_back({last_, start});
    }
    return start == ready;
}

Ticks PathThroughSwitches::busy(HopId hop) const {
    const LinkId link = graph_.legs(hop).front();
    return graph_.instance().busy(link, graph_.instance().beta(link, chunk_));
}

}  // namespace tutti::heuristics
