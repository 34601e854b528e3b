#include "heuristics/exchange/estimates.hpp"

#include <algorithm>
#include <utility>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostHops = 4;  ///< that are compared

}  // namespace

LoadEstimate::LoadEstimate(const MessageGraph& graph)
    : graph_(graph), loads_(graph.instance().topology().links().size()) {}

void LoadEstimate::add(NodeId from, NodeId to, ChunkId chunk, std::size_t times) {
    const Instance& instance = graph_.instance();
    const auto hops = graph_.between(from, to);
    // Of those that are as fast as the fastest, which come first, one whose links are empty.
    const Ticks least = graph_.transit(hops.front(), chunk);
    std::size_t equal = 1;
    while (equal < hops.size() && graph_.transit(hops[equal], chunk) == least) ++equal;
    const std::size_t turn = (from.index() + to.index()) % equal;
    HopId hop = hops[turn];
    Ticks least_load = Ticks::max();
    for (std::size_t i = 0; i < std::min(equal, kMostHops); ++i) {
        const HopId tried = hops[(turn + i * equal / std::min(equal, kMostHops)) % equal];
        Ticks load;
        for (const LinkId link : graph_.hops().legs(tried)) load = std::max(load, loads_[link.index()]);
        if (load >= least_load) continue;
        least_load = load;
        hop = tried;
    }
    bool is_first = true;
    for (const LinkId link : graph_.hops().legs(hop)) {
        const Ticks busy = instance.busy(link, instance.beta(link, chunk)) * static_cast<std::int64_t>(times);
        if (std::exchange(is_first, false)) sent_ += busy;
        Ticks& load = loads_[link.index()];
        load += busy;
        fullest_ = std::max(fullest_, load);
    }
}

}  // namespace tutti::heuristics
