#include "heuristics/flood/flood_network.hpp"

#include <algorithm>
#include <map>

namespace tutti::heuristics {

FloodNetwork::FloodNetwork(const SpreadProblem& problem) : graph_(problem.graph) {
    const HopGraph& graph = problem.graph;
    const Instance& instance = graph.instance();
    std::map<std::int64_t, std::uint32_t> sizes;
    std::vector<ChunkId> example;
    for (const Spread& spread : problem.spreads) {
        const auto [place, is_new] = sizes.try_emplace(instance.demand(spread.chunk).bytes.count,
                                                       static_cast<std::uint32_t>(sizes.size()));
        if (is_new) example.push_back(spread.chunk);
        size_of.push_back(place->second);
    }

    enum class Kind { Arrival, Free, Both };
    std::map<std::pair<Ticks, Kind>, std::uint32_t> lane_of;
    Ticks last_delay;
    const auto lane = [&](Ticks delay, Kind kind) {
        const auto [place, is_new] =
            lane_of.try_emplace({delay, kind}, static_cast<std::uint32_t>(lane_of.size()));
        if (is_new) {
            lanes_fall = lanes_fall && (lanes == 0 || delay < last_delay);
            last_delay = delay;
            ++lanes;
        }
        return place->second;
    };
    std::vector<LegTime> legs;
    std::map<std::pair<Ticks, Ticks>, std::uint32_t> kinds;
    kind_of_.reserve(example.size() * graph.hops());
    for (const ChunkId chunk : example) {
        for (std::size_t h = 0; h < graph.hops(); ++h) {
            const Ticks transit = graph.transit(HopId(h), chunk);
            graph.leg_times(HopId(h), chunk, legs);
            const Ticks busy = legs.front().busy;
            const auto [place, is_new] =
                kinds.try_emplace({transit, busy}, static_cast<std::uint32_t>(kinds.size()));
            if (is_new) {
                const bool both = busy == transit;
                const std::uint32_t arrival = lane(transit, both ? Kind::Both : Kind::Arrival);
                kinds_.push_back({transit, busy, arrival, both ? arrival : lane(busy, Kind::Free)});
            }
            kind_of_.push_back(place->second);
        }
    }

    std::vector<Ticks> speeds;
    for (std::size_t h = 0; h < hops() && !example.empty(); ++h) speeds.push_back(times(0, h).transit);
    std::vector<Ticks> sorted = speeds;
    std::ranges::sort(sorted);
    sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
    for (const Ticks speed : speeds) {
        rank.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(sorted, speed) - sorted.begin()));
    }
    ranks = sorted.size();
}

}  // namespace tutti::heuristics
