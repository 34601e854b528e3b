// Single-linkage clustering. The weight of a hop from x to y is the time of the fastest path between NPUs
// over it: from the nearest NPU to x, over the hop, on to the nearest NPU. Joining all hops up to some weight
// gives a partition; the weights at which it changes are the levels. In a fat tree these are leaves and pods,
// in a rail cluster the servers, in a dragonfly routers and, if the cables between them are longer or slower,
// groups.
//
// Networks with many kinds of links have many levels; the kLevelsKept kept are those after which the weight
// grows by the largest factor.

#include "heuristics/switches/switch_clusters.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kLevelsKept = 3;

class UnionFind {
  public:
    explicit UnionFind(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }
    std::uint32_t find(std::uint32_t x) {
        while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    bool join(std::uint32_t a, std::uint32_t b) {
        a = find(a);
        b = find(b);
        parent_[std::max(a, b)] = std::min(a, b);
        return a != b;
    }

  private:
    std::vector<std::uint32_t> parent_;
};

/// For each stop, the fastest path to it from an NPU.
std::vector<Ticks> from_npus(const HopGraph& graph, ChunkId chunk) {
    const Topology& topology = graph.instance().topology();
    std::vector<Ticks> reached(graph.nodes(), Ticks::max());
    using Entry = std::pair<Ticks, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (std::size_t n = 0; n < topology.npus(); ++n) {
        reached[n] = Ticks(0);
        queue.push({Ticks(0), NodeId(n)});
    }
    while (!queue.empty()) {
        const auto [at, node] = queue.top();
        queue.pop();
        if (at != reached[node.index()]) continue;
        for (const auto& [to, id] : graph.out(node)) {
            if (topology.is_npu(to)) continue;
            const Ticks arrival = at + graph.transit(id, chunk);
            if (arrival >= reached[to.index()]) continue;
            reached[to.index()] = arrival;
            queue.push({arrival, to});
        }
    }
    return reached;
}

struct Weighted {
    Ticks weight;
    std::uint32_t from, to;
};

}  // namespace

SwitchClusters::SwitchClusters(const HopGraph& graph, ChunkId chunk) {
    const Topology& topology = graph.instance().topology();
    const auto in = from_npus(graph, chunk);
    const auto out = from_npus(graph.reversed(), chunk);
    std::vector<Weighted> edges;
    for (std::size_t i = 0; i < graph.hops(); ++i) {
        const Hop hop = graph.hop(HopId(i));
        const Ticks before = in[hop.from.index()];
        const Ticks after = out[hop.to.index()];
        if (before == Ticks::max() || after == Ticks::max()) continue;  // leads nowhere
        edges.push_back({before + graph.transit(HopId(i), chunk) + after, hop.from.value(), hop.to.value()});
    }
    std::ranges::sort(edges, {}, &Weighted::weight);

    UnionFind joined(graph.nodes());
    std::vector<double> steps;
    std::vector<std::uint32_t> npus(graph.nodes());
    for (std::size_t i = 0; i < edges.size();) {
        const Ticks weight = edges[i].weight;
        bool changed = false;
        for (; i < edges.size() && edges[i].weight == weight; ++i) {
            changed = joined.join(edges[i].from, edges[i].to) || changed;
        }
        if (!changed || i == edges.size()) continue;
        std::ranges::fill(npus, 0U);
        for (std::uint32_t n = 0; n < topology.npus(); ++n) ++npus[joined.find(n)];
        if (std::ranges::max(npus) < 2) continue;
        if (npus[joined.find(0)] == topology.npus()) break;
        std::vector<std::uint32_t> part(graph.nodes());
        for (std::uint32_t n = 0; n < part.size(); ++n) part[n] = joined.find(n);
        parts_.push_back(std::move(part));
        steps.push_back(static_cast<double>(edges[i].weight.count()) / static_cast<double>(weight.count()));
        if (parts_.size() > kLevelsKept) {
            const auto least = std::ranges::min_element(steps) - steps.begin();
            parts_.erase(parts_.begin() + least);
            steps.erase(steps.begin() + least);
        }
    }
    for (auto& part : parts_) {
        // Numbers without gaps. The representative is the least member, so it comes first.
        std::uint32_t next = 0;
        std::vector<std::uint32_t> number(part.size());
        for (std::uint32_t n = 0; n < part.size(); ++n) {
            if (part[n] == n) number[n] = next++;
            part[n] = number[part[n]];
        }
        rates_.emplace_back(next, 0.0);
    }
    measure_rates(graph, chunk);
}

void SwitchClusters::measure_rates(const HopGraph& graph, ChunkId chunk) {
    // Rigid hops share links: at each distance from the end of the hops, every link counts once, and the
    // narrowest such stage bounds the rate.
    const Instance& instance = graph.instance();
    std::size_t legs = 0;
    for (std::size_t i = 0; i < graph.hops(); ++i) legs = std::max(legs, graph.hop(HopId(i)).legs.size());
    std::vector<std::uint32_t> counted(instance.topology().links().size());
    for (std::size_t level = 0; level < levels(); ++level) {
        for (std::size_t stage = 0; stage < std::min<std::size_t>(legs, 6); ++stage) {
            std::ranges::fill(counted, UINT32_MAX);
            std::vector<double> sums(clusters(level), 0.0);
            for (std::size_t i = 0; i < graph.hops(); ++i) {
                const Hop hop = graph.hop(HopId(i));
                const std::uint32_t into = cluster(level, hop.to);
                if (into == cluster(level, hop.from)) continue;
                const LinkId link = hop.legs[hop.legs.size() - 1 - std::min(stage, hop.legs.size() - 1)];
                if (counted[link.index()] == into) continue;
                counted[link.index()] = into;
                const Ticks busy = instance.busy(link, instance.beta(link, chunk));
                sums[into] += 1.0 / static_cast<double>(busy.count());
            }
            for (std::size_t k = 0; k < sums.size(); ++k) {
                rates_[level][k] = stage == 0 ? sums[k] : std::min(rates_[level][k], sums[k]);
            }
        }
    }
}

}  // namespace tutti::heuristics
