#include "heuristics/roots.hpp"

#include <algorithm>

namespace tutti::heuristics {

const std::vector<bool>& Roots::reached_from(NodeId node, CollectiveId collective) {
    const auto [entry, added] = reached_.try_emplace({collective, node}, graph_.nodes(), false);
    std::vector<bool>& reached = entry->second;
    if (!added) return reached;
    std::vector<NodeId> queue{node};
    reached[node.index()] = true;
    while (!queue.empty()) {
        const NodeId at = queue.back();
        queue.pop_back();
        for (const HopId id : graph_.out(at)) {
            const NodeId to = graph_.hop(id).to;
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
