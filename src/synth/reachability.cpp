#include "synth/reachability.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::synth {
namespace {

/// Which nodes a chunk of the collective can get to from the node (or, backwards, from which it can get
/// there).
std::vector<bool> reached_from(const Instance& instance, CollectiveId collective,
                               std::span<const NodeId> from, bool backwards) {
    const Topology& topology = instance.topology();
    std::vector<bool> reached(topology.nodes(), false);
    std::vector<NodeId> queue(from.begin(), from.end());
    for (const NodeId node : queue) reached[node.index()] = true;
    while (!queue.empty()) {
        const NodeId node = queue.back();
        queue.pop_back();
        for (const LinkId id : backwards ? topology.in_links(node) : topology.out_links(node)) {
            const NodeId to = backwards ? topology.link(id).src : topology.link(id).dst;
            if (reached[to.index()] || !instance.may_carry(to, collective)) continue;
            reached[to.index()] = true;
            queue.push_back(to);
        }
    }
    return reached;
}

bool all_members_meet(const Instance& instance, CollectiveId id) {
    const Group& group = instance.groups()[instance.collective(id).group.index()];
    const std::span first(group.members.data(), 1);
    for (const bool backwards : {false, true}) {
        const auto reached = reached_from(instance, id, first, backwards);
        if (!std::ranges::all_of(group.members, [&](NodeId m) { return reached[m.index()]; })) return false;
    }
    return true;
}

std::string complaint(const Instance& instance, ChunkId chunk, std::span<const NodeId> from,
                      const std::vector<NodeId>& lost) {
    constexpr std::size_t kMostNamed = 10;
    const Collective& collective = instance.collective_of(chunk);
    const Group& group = instance.group_of(chunk);
    std::vector<std::uint32_t> sources, names;
    for (const NodeId node : from.first(std::min(kMostNamed, from.size()))) sources.push_back(node.value());
    for (std::size_t i = 0; i < std::min(kMostNamed, lost.size()); ++i) names.push_back(lost[i].value());
    return fmt::format(
        "collective '{}' ({} in group '{}'): chunk {} cannot get from NPU {}{} to NPU {}{}{}", collective.id,
        name_of(collective.kind), group.name, chunk.value(), fmt::join(sources, ", "),
        from.size() > kMostNamed ? ", …" : "", fmt::join(names, ", "),
        lost.size() > kMostNamed ? fmt::format(" and {} more", lost.size() - kMostNamed) : "",
        collective.forwarding == Forwarding::Group
            ? "; with forwarding 'group' only members and switches may carry it (try forwarding 'any')"
            : "");
}

}  // namespace

std::optional<std::string> unreachable(const Instance& instance) {
    std::vector<bool> meet(instance.collectives().size());
    for (std::size_t i = 0; i < meet.size(); ++i) meet[i] = all_members_meet(instance, CollectiveId(i));

    if (std::ranges::all_of(meet, [](bool all) { return all; })) return std::nullopt;

    std::vector<bool> reached;
    const NodeId* last_sources = nullptr;
    CollectiveId last_collective;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        const Demand demand = instance.demand(chunk);
        if (meet[demand.collective.index()]) continue;
        // A plain chunk may come from any holder; of a reduction, every holder's contribution must come.
        const std::size_t parts = demand.reduction ? demand.holders.size() : 1;
        for (std::size_t p = 0; p < parts; ++p) {
            const auto sources = demand.reduction ? demand.holders.subspan(p, 1) : demand.holders;
            if (last_sources != sources.data() || last_collective != demand.collective) {
                reached = reached_from(instance, demand.collective, sources, false);
                last_sources = sources.data();
                last_collective = demand.collective;
            }
            std::vector<NodeId> lost;
            for (const NodeId receiver : demand.receivers) {
                if (!reached[receiver.index()]) lost.push_back(receiver);
            }
            if (!lost.empty()) return complaint(instance, chunk, sources, lost);
        }
    }
    return std::nullopt;
}

}  // namespace tutti::synth
