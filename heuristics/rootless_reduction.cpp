#include "heuristics/rootless_reduction.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

/// A path of fewest hops from one NPU to another through nodes that are neither holders nor receivers.
std::optional<std::vector<HopId>> path_avoiding_members(const HopGraph& graph, const Demand& demand,
                                                        NodeId from, NodeId to) {
    std::vector<std::optional<HopId>> by(graph.nodes());
    std::vector<NodeId> queue{from};
    for (std::size_t next = 0; next < queue.size(); ++next) {
        for (const auto& [at, id] : graph.out(queue[next])) {
            const bool counts = std::ranges::binary_search(demand.holders, at) ||
                                std::ranges::binary_search(demand.receivers, at);
            if (by[at.index()] || at == from || (counts && at != to)) continue;
            if (!graph.instance().may_carry(at, demand.collective)) continue;
            by[at.index()] = id;
            queue.push_back(at);
        }
    }
    if (!by[to.index()]) return std::nullopt;
    std::vector<HopId> path;
    for (NodeId at = to; at != from; at = graph.from(path.back())) path.push_back(*by[at.index()]);
    std::ranges::reverse(path);
    return path;
}

}  // namespace

std::optional<Ticks> reduce_without_root(const HopGraph& graph, ChunkId chunk,
                                         const std::vector<NodeId>& roots, LinkCalendar& calendar,
                                         std::vector<Move>& moves) {
    const Demand demand = graph.instance().demand(chunk);
    Ticks now = graph.instance().last_release(chunk);
    for (const NodeId root : roots) {
        for (const NodeId holder : demand.holders) {
            if (holder == root) continue;
            const auto path = path_avoiding_members(graph, demand, holder, root);
            if (!path) return std::nullopt;
            for (const HopId hop : *path) {
                const Ticks start = calendar.earliest(graph, hop, chunk, now);
                calendar.book(graph, hop, chunk, start);
                moves.push_back({&graph, {hop, chunk, start}, hop == path->back() ? Op::Reduce : Op::Copy});
                now = start + graph.transit(hop, chunk);
            }
        }
    }
    return now;
}

}  // namespace tutti::heuristics
