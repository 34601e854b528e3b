#include "heuristics/roots.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

bool is_root_switch(const SwitchRule& rule) {
    return rule.reduce && rule.copy && !rule.cut_through && !rule.buffer;
}

/// The fewest hops from the node to the farthest of the members; none if one cannot be reached.
std::optional<std::size_t> farthest(const HopGraph& graph, NodeId from, CollectiveId collective,
                                    const std::vector<NodeId>& members) {
    constexpr std::size_t kFar = SIZE_MAX;
    std::vector<std::size_t> depth(graph.nodes(), kFar);
    std::vector<NodeId> queue{from};
    depth[from.index()] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        for (const auto& [to, hop] : graph.out(queue[next])) {
            if (depth[to.index()] != kFar || !graph.instance().may_carry(to, collective)) continue;
            depth[to.index()] = depth[queue[next].index()] + 1;
            queue.push_back(to);
        }
    }
    std::size_t most = 0;
    for (const NodeId member : members) most = std::max(most, depth[member.index()]);
    return most == kFar ? std::nullopt : std::optional(most);
}

}  // namespace

bool has_root_switch(const Topology& topology) {
    return std::ranges::any_of(topology.parts().switches, is_root_switch);
}

std::vector<NodeId> Roots::nearest_switches(CollectiveId collective) const {
    // Each takes two searches, so their number is limited.
    constexpr std::size_t kMaxLookedAt = 256;
    const Instance& instance = graph_.instance();
    const Topology& topology = instance.topology();
    const auto& members = instance.groups()[instance.collective(collective).group.index()].members;
    const HopGraph backwards = graph_.reversed();
    std::vector<NodeId> candidates, nearest;
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        if (is_root_switch(topology.rule(NodeId(n)))) candidates.emplace_back(n);
    }
    std::size_t least = SIZE_MAX;
    const std::size_t step = (candidates.size() + kMaxLookedAt - 1) / kMaxLookedAt;
    for (std::size_t i = 0; i < candidates.size(); i += step) {
        const auto there = farthest(graph_, candidates[i], collective, members);
        const auto back = farthest(backwards, candidates[i], collective, members);
        if (!there || !back || *there + *back > least) continue;
        if (*there + *back < least) nearest.clear();
        least = *there + *back;
        nearest.push_back(candidates[i]);
    }
    return nearest;
}

std::optional<NodeId> Roots::at_switch(ChunkId chunk, std::size_t turn) {
    const CollectiveId collective = graph_.instance().demand(chunk).collective;
    const auto [entry, added] = switches_.try_emplace(collective);
    if (added) entry->second = nearest_switches(collective);
    if (entry->second.empty()) return std::nullopt;
    return entry->second[turn % entry->second.size()];
}

const std::vector<bool>& Roots::reached_from(NodeId node, CollectiveId collective) {
    const auto [entry, added] = reached_.try_emplace({collective, node}, graph_.nodes(), false);
    std::vector<bool>& reached = entry->second;
    if (!added) return reached;
    std::vector<NodeId> queue{node};
    reached[node.index()] = true;
    while (!queue.empty()) {
        const NodeId at = queue.back();
        queue.pop_back();
        for (const auto& [to, hop] : graph_.out(at)) {
            if (reached[to.index()] || !graph_.instance().may_carry(to, collective)) continue;
            reached[to.index()] = true;
            queue.push_back(to);
        }
    }
    return reached;
}

bool Roots::members_meet(CollectiveId collective) {
    const auto [entry, added] = meet_.try_emplace(collective, false);
    if (!added) return entry->second;
    const Instance& instance = graph_.instance();
    const auto& members = instance.groups()[instance.collective(collective).group.index()].members;
    // From the first to all, and from all to the first.
    const HopGraph turned = graph_.reversed();
    Roots backwards(turned);
    const auto& to = reached_from(members.front(), collective);
    const auto& from = backwards.reached_from(members.front(), collective);
    entry->second = std::ranges::all_of(members, [&](NodeId m) { return to[m.index()] && from[m.index()]; });
    return entry->second;
}

std::optional<NodeId> Roots::common(ChunkId chunk, std::size_t turn) {
    const Demand demand = graph_.instance().demand(chunk);
    const auto receivers = demand.receivers;
    if (members_meet(demand.collective)) return receivers[turn % receivers.size()];
    const auto fits = [&](NodeId root) {
        return graph_.instance().may_carry(root, demand.collective) &&
               std::ranges::all_of(
                   demand.holders,
                   [&](NodeId h) { return reached_from(h, demand.collective)[root.index()]; }) &&
               std::ranges::all_of(
                   receivers, [&](NodeId r) { return reached_from(root, demand.collective)[r.index()]; });
    };
    for (std::size_t i = 0; i < receivers.size(); ++i) {
        const NodeId root = receivers[(turn + i) % receivers.size()];
        if (fits(root)) return root;
    }
    for (std::size_t n = 0; n < graph_.instance().topology().npus(); ++n) {
        if (fits(NodeId(n))) return NodeId(n);
    }
    return std::nullopt;
}

std::vector<NodeId> Roots::separate(ChunkId chunk) {
    const Demand demand = graph_.instance().demand(chunk);
    std::vector<NodeId> roots;
    for (const NodeId receiver : demand.receivers) {
        const auto served_by = [&](NodeId other) {
            if (other == receiver || !reached_from(other, demand.collective)[receiver.index()]) return false;
            return other < receiver || !reached_from(receiver, demand.collective)[other.index()];
        };
        if (std::ranges::none_of(demand.receivers, served_by)) roots.push_back(receiver);
    }
    return roots;
}

}  // namespace tutti::heuristics
