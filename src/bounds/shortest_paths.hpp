#pragma once

#include "core/topology.hpp"

#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace tutti::bounds {

enum class Direction { Forwards, Backwards };

/// The least cost from a set of nodes to every other (forwards) or from every other to the set (backwards);
/// `never` where there is no path. `step(link, next)` is the cost of taking a link to the next node in that
/// direction, at least 0, or `never`. Dijkstra's algorithm, O(links log nodes).
template <class Cost, class Step>
[[nodiscard]] std::vector<Cost> shortest_paths(const Topology& topology, std::span<const NodeId> set,
                                               Direction direction, Cost never, Step step) {
    std::vector<Cost> costs(topology.nodes(), never);
    using Entry = std::pair<Cost, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (const NodeId node : set) {
        costs[node.index()] = Cost{};
        queue.emplace(Cost{}, node);
    }
    while (!queue.empty()) {
        const auto [cost, node] = queue.top();
        queue.pop();
        if (cost != costs[node.index()]) continue;
        const bool forwards = direction == Direction::Forwards;
        for (const LinkId id : forwards ? topology.out_links(node) : topology.in_links(node)) {
            const NodeId next = forwards ? topology.link(id).dst : topology.link(id).src;
            const Cost more = step(id, next);
            if (more >= never) continue;
            const Cost total = cost + more;
            if (total >= costs[next.index()]) continue;
            costs[next.index()] = total;
            queue.emplace(total, next);
        }
    }
    return costs;
}

}  // namespace tutti::bounds
