#include "bounds/distances.hpp"

#include <algorithm>
#include <queue>

namespace tutti::bounds {
namespace {

struct Entry {
    Ticks time;
    NodeId node;
    bool operator>(const Entry& other) const { return time > other.time; }
};

/// Breadth-first counts of links.
std::vector<std::uint32_t> link_counts(const Instance& instance, CollectiveId collective,
                                       std::span<const NodeId> set, Direction direction) {
    const Topology& topology = instance.topology();
    std::vector<std::uint32_t> count(topology.nodes(), UINT32_MAX);
    std::vector<NodeId> queue(set.begin(), set.end());
    for (const NodeId node : queue) count[node.index()] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const NodeId node = queue[next];
        for (const LinkId id :
             direction == Direction::Forwards ? topology.out_links(node) : topology.in_links(node)) {
            const NodeId to =
                direction == Direction::Forwards ? topology.link(id).dst : topology.link(id).src;
            if (count[to.index()] != UINT32_MAX || !instance.may_carry(to, collective)) continue;
            count[to.index()] = count[node.index()] + 1;
            queue.push_back(to);
        }
    }
    return count;
}

}  // namespace

Distances distances(const Instance& instance, ChunkId chunk, std::span<const NodeId> set,
                    Direction direction) {
    const Topology& topology = instance.topology();
    const CollectiveId collective = instance.demand(chunk).collective;
    Distances result;
    result.time.assign(topology.nodes(), Distances::kUnreachable);
    result.via.resize(topology.nodes());
    result.link_count = link_counts(instance, collective, set, direction);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (const NodeId node : set) {
        result.time[node.index()] = Ticks(0);
        queue.push({Ticks(0), node});
    }
    while (!queue.empty()) {
        const auto [time, node] = queue.top();
        queue.pop();
        if (time != result.time[node.index()]) continue;
        for (const LinkId id :
             direction == Direction::Forwards ? topology.out_links(node) : topology.in_links(node)) {
            const Link& link = topology.link(id);
            const NodeId to = direction == Direction::Forwards ? link.dst : link.src;
            if (!instance.may_carry(to, collective)) continue;
            const Ticks beta = topology.is_cut_through(link.dst) ? Ticks(0) : instance.beta(id, chunk);
            const Ticks reached = time + link.wire.alpha + beta;
            if (reached >= result.time[to.index()]) continue;
            result.time[to.index()] = reached;
            result.via[to.index()] = id;
            queue.push({reached, to});
        }
    }
    return result;
}

std::vector<LinkId> Distances::path(const Topology& topology, NodeId node, Direction direction) const {
    std::vector<LinkId> links;
    while (const auto id = via[node.index()]) {
        links.push_back(*id);
        node = direction == Direction::Forwards ? topology.link(*id).src : topology.link(*id).dst;
    }
    if (direction == Direction::Forwards) std::ranges::reverse(links);
    return links;
}

}  // namespace tutti::bounds
