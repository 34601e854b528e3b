#include "heuristics/spread_bound.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

/// The throughput of a hop: its first transfer ends after `first`, and then one each `every`.
struct HopRate {
    Ticks first, every;
};

/// The least time in which the hops together deliver that many chunks.
Ticks time_for(std::int64_t chunks, const std::vector<HopRate>& rates) {
    if (chunks <= 0 || rates.empty()) return Ticks(0);
    const auto delivered = [&](std::int64_t end) {
        std::int64_t sum = 0;
        for (const HopRate& rate : rates) {
            if (rate.first.count() > end) continue;
            sum += (end - rate.first.count()) / std::max<std::int64_t>(rate.every.count(), 1) + 1;
            if (sum >= chunks) break;
        }
        return sum;
    };
    std::int64_t low = 0;  // too short
    Ticks longest = rates.front().first + rates.front().every * (chunks - 1);
    std::int64_t high = longest.count();
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (delivered(middle) >= chunks ? high : low) = middle;
    }
    return Ticks(high);
}

class Ports {
  public:
    explicit Ports(const HopGraph& graph, ChunkId sample) : into_(graph.nodes()), out_of_(graph.nodes()) {
        std::vector<LegTime> times;
        for (std::size_t h = 0; h < graph.hops(); ++h) {
            const HopId id(h);
            graph.leg_times(id, sample, times);
            const HopRate rate{graph.transit(id, sample), times.front().busy};
            into_[graph.hop(id).to.index()].push_back(rate);
            out_of_[graph.hop(id).from.index()].push_back(rate);
        }
    }
    [[nodiscard]] Ticks to_receive(std::size_t node, std::int64_t chunks) const {
        return time_for(chunks, into_[node]);
    }
    [[nodiscard]] Ticks to_send(std::size_t node, std::int64_t chunks) const {
        return time_for(chunks, out_of_[node]);
    }

  private:
    std::vector<std::vector<HopRate>> into_, out_of_;
};

bool same_list(std::span<const NodeId> a, std::span<const NodeId> b) {
    return a.data() == b.data() && a.size() == b.size();
}

}  // namespace

Ticks spread_bound(const SpreadProblem& problem) {
    const auto& spreads = problem.spreads;
    if (spreads.empty()) return Ticks(0);
    const Instance& instance = problem.graph.instance();
    const std::size_t nodes = problem.graph.nodes();
    std::vector<std::int64_t> wanted(nodes, 0), given(nodes, 0);
    Ticks ready = spreads.front().ready;
    ChunkId smallest = spreads.front().chunk;
    for (std::size_t i = 0; i < spreads.size();) {
        // Spreads with the same list of targets are adjacent: an all-gather has one list for all its chunks.
        std::size_t end = i;
        for (; end < spreads.size() && same_list(spreads[end].targets, spreads[i].targets); ++end) {
            const Spread& spread = spreads[end];
            ready = std::min(ready, spread.ready);
            if (instance.demand(spread.chunk).bytes < instance.demand(smallest).bytes)
                smallest = spread.chunk;
            for (const NodeId source : spread.sources) {
                if (std::ranges::binary_search(spread.targets, source)) --wanted[source.index()];
            }
            const bool stays = spread.sources.size() == 1 && spread.targets.size() == 1 &&
                               spread.sources.front() == spread.targets.front();
            if (spread.sources.size() == 1 && !stays) ++given[spread.sources.front().index()];
        }
        for (const NodeId target : spreads[i].targets) {
            wanted[target.index()] += static_cast<std::int64_t>(end - i);
        }
        i = end;
    }
    const Ports ports(problem.graph, smallest);
    Ticks bound;
    for (std::size_t node = 0; node < nodes; ++node) {
        bound = std::max({bound, ports.to_receive(node, wanted[node]), ports.to_send(node, given[node])});
    }
    return ready + bound;
}

}  // namespace tutti::heuristics
