#include "heuristics/flood/cluster_detours.hpp"

#include <algorithm>
#include <map>

namespace tutti::heuristics {
namespace {

/// The fastest link from one cluster into another.
struct Crossing {
    std::uint32_t from, to;
    Ticks transit;
};

/// Distances from some clusters to all: Bellman-Ford, as there are few clusters with few hops between them.
void relax_distances(const std::vector<Crossing>& crossings, std::vector<Ticks>& distance) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const Crossing& crossing : crossings) {
            if (distance[crossing.from] == Ticks::max()) continue;
            const Ticks arrival = distance[crossing.from] + crossing.transit;
            if (arrival >= distance[crossing.to]) continue;
            distance[crossing.to] = arrival;
            changed = true;
        }
    }
}

}  // namespace

ClusterDetours::ClusterDetours(const FloodNetwork& network, const ClusterLevel& level,
                               const std::vector<Spread>& spreads)
    : row_of_(network.hops(), 0) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
    std::vector<Crossing> crossings;
    for (std::size_t h = 0; h < network.hops(); ++h) {
        if (!level.crosses(network, h)) continue;
        const std::uint32_t from = level.cluster_of[network.from(h)];
        const std::uint32_t to = level.cluster_of[network.to(h)];
        const Ticks transit = network.times(0, h).transit;
        const auto [place, is_new] =
            numbers.try_emplace({from, to}, static_cast<std::uint32_t>(crossings.size()));
        if (is_new) crossings.push_back({from, to, transit});
        row_of_[h] = place->second;
        Ticks& fastest = crossings[place->second].transit;
        fastest = std::min(fastest, transit);
    }

    rows_ = BitRows(crossings.size(), spreads.size());
    std::map<std::vector<std::uint32_t>, std::vector<Ticks>> known;  // by the clusters of the sources
    std::vector<std::uint32_t> homes;
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        homes.clear();
        for (const NodeId source : spreads[i].sources) homes.push_back(level.cluster_of[source.index()]);
        std::ranges::sort(homes);
        homes.erase(std::ranges::unique(homes).begin(), homes.end());
        const auto [place, is_new] = known.try_emplace(homes);
        std::vector<Ticks>& distance = place->second;
        if (is_new) {
            distance.assign(level.clusters(), Ticks::max());
            for (const std::uint32_t home : homes) distance[home] = Ticks(0);
            relax_distances(crossings, distance);
        }
        for (std::size_t c = 0; c < crossings.size(); ++c) {
            const Crossing& crossing = crossings[c];
            if (distance[crossing.from] == Ticks::max() ||
                distance[crossing.from] + crossing.transit > distance[crossing.to]) {
                rows_.set(c, i);
            }
        }
    }
}

}  // namespace tutti::heuristics
