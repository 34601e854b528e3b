#include "heuristics/flood/flood_heights.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace tutti::heuristics {

Heights::Heights(const FloodNetwork& network, const std::vector<Spread>& spreads, const Stop& stop)
    : nodes_(network.nodes()) {
    std::map<std::vector<NodeId>, std::size_t> rows;
    std::vector<std::size_t> example;
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        std::vector<NodeId> sources(spreads[i].sources.begin(), spreads[i].sources.end());
        const auto [place, is_new] = rows.try_emplace(std::move(sources), rows.size());
        if (is_new) example.push_back(i);
        row_of_.push_back(place->second);
    }
    heights_.resize(rows.size() * nodes_);

    // No path is longer than nodes times the slowest hop; scaled to fit 32 bits.
    Ticks slowest(1);
    for (std::size_t h = 0; h < network.hops(); ++h) slowest = std::max(slowest, network.times(0, h).transit);
    const Ticks longest = slowest * static_cast<std::int64_t>(nodes_);
    const auto bits = std::bit_width(static_cast<std::uint64_t>(longest.count()));
    const auto shift = bits > 32 ? bits - 32 : 0;

    std::vector<Ticks> distance(nodes_), height(nodes_);
    std::vector<std::pair<Ticks, std::uint32_t>> heap;
    std::vector<std::uint32_t> settled;
    for (std::size_t r = 0; r < example.size() && !stop.requested(); ++r) {
        std::ranges::fill(distance, Ticks::max());
        std::ranges::fill(height, Ticks(0));
        heap.clear();
        settled.clear();
        for (const NodeId source : spreads[example[r]].sources) {
            distance[source.index()] = Ticks(0);
            heap.emplace_back(Ticks(0), source.value());
        }
        while (!heap.empty()) {
            std::ranges::pop_heap(heap, std::greater{});
            const auto [tick, node] = heap.back();
            heap.pop_back();
            if (tick > distance[node]) continue;
            settled.push_back(node);
            for (const auto& [to, hop] : network.out(node)) {
                const Ticks arrival = tick + network.times(0, hop.index()).transit;
                Ticks& best = distance[to.index()];
                if (arrival >= best) continue;
                best = arrival;
                heap.emplace_back(arrival, to.value());
                std::ranges::push_heap(heap, std::greater{});
            }
        }
        for (std::size_t i = settled.size(); i-- > 0;) {
            const std::uint32_t node = settled[i];
            for (const auto& [to, hop] : network.out(node)) {
                const Ticks transit = network.times(0, hop.index()).transit;
                if (distance[node] + transit != distance[to.index()]) continue;
                height[node] = std::max(height[node], height[to.index()] + transit);
            }
            heights_[r * nodes_ + node] = static_cast<std::uint32_t>(height[node].count() >> shift);
        }
    }
}

}  // namespace tutti::heuristics
