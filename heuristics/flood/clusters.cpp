#include "heuristics/flood/clusters.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

/// A link belongs to a slower class when it takes at least this much longer than the fastest of the class.
constexpr double kStep = 1.25;

std::uint32_t find(std::vector<std::uint32_t>& parent, std::uint32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
}

ClusterLevel joined_below(const FloodNetwork& network, Ticks threshold) {
    std::vector<std::uint32_t> parent(network.nodes());
    std::iota(parent.begin(), parent.end(), 0U);
    for (std::size_t h = 0; h < network.hops(); ++h) {
        if (network.times(0, h).busy < threshold) {
            parent[find(parent, network.from(h))] = find(parent, network.to(h));
        }
    }
    ClusterLevel level;
    level.cluster_of.resize(network.nodes());
    std::vector<std::uint32_t> number(network.nodes(), UINT32_MAX);
    std::uint32_t clusters = 0;
    for (std::uint32_t n = 0; n < network.nodes(); ++n) {
        std::uint32_t& own = number[find(parent, n)];
        if (own == UINT32_MAX) own = clusters++;
        level.cluster_of[n] = own;
    }
    level.entrances.resize(clusters);
    level.exits.resize(clusters);
    level.slack.resize(clusters);
    std::vector<double> rate(clusters, 0);
    for (std::size_t h = 0; h < network.hops(); ++h) {
        if (!level.crosses(network, h)) continue;
        const std::uint32_t cluster = level.cluster_of[network.to(h)];
        level.entrances[cluster].push_back(static_cast<std::uint32_t>(h));
        level.exits[level.cluster_of[network.from(h)]].push_back(cluster);
        const Ticks busy = network.times(0, h).busy;
        rate[cluster] += 1.0 / static_cast<double>(busy.count());
        level.slack[cluster] = std::max(level.slack[cluster], busy);
    }
    for (auto& exits : level.exits) {
        std::ranges::sort(exits);
        exits.erase(std::ranges::unique(exits).begin(), exits.end());
    }
    for (const double r : rate) level.period.push_back(r > 0 ? 1.0 / r : 0.0);
    return level;
}

}  // namespace

std::vector<ClusterLevel> cluster_levels(const FloodNetwork& network) {
    std::vector<Ticks> speeds;
    for (std::size_t h = 0; h < network.hops(); ++h) speeds.push_back(network.times(0, h).busy);
    std::ranges::sort(speeds);
    std::vector<Ticks> steps;
    Ticks fastest = speeds.empty() ? Ticks(0) : speeds.front();
    for (const Ticks speed : speeds) {
        if (static_cast<double>(speed.count()) < kStep * static_cast<double>(fastest.count())) continue;
        steps.push_back(speed);
        fastest = speed;
    }
    std::vector<ClusterLevel> levels;
    for (std::size_t i = steps.size(); i-- > 0 && levels.size() < kMaxLevels;) {
        ClusterLevel level = joined_below(network, steps[i]);
        if (level.clusters() == 1 || level.clusters() == network.nodes()) continue;
        const bool same = !levels.empty() && levels.back().cluster_of == level.cluster_of;
        if (!same) levels.push_back(std::move(level));
    }
    return levels;
}

}  // namespace tutti::heuristics
