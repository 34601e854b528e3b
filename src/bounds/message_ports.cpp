#include "bounds/message_ports.hpp"

#include <algorithm>
#include <map>

namespace tutti::bounds {

std::vector<std::vector<MessagePort>> message_ports(const PacedNetwork& network,
                                                    const std::vector<bool>& carriers, Direction direction) {
    const Topology& topology = network.topology();
    std::vector<std::vector<MessagePort>> ports(topology.npus());
    for (std::size_t n = 0; n < topology.npus(); ++n) {
        if (!carriers[n]) continue;
        std::vector<TimedNode> others;
        for (std::size_t o = 0; o < topology.npus(); ++o) {
            if (o != n && carriers[o]) others.push_back({NodeId(o), Ticks(0)});
        }
        const auto times = network.times(others, direction, [&](NodeId node) {
            return topology.is_switch(node) && carriers[node.index()];
        });
        const auto links =
            direction == Direction::Forwards ? topology.in_links(NodeId(n)) : topology.out_links(NodeId(n));
        for (const LinkId id : links) {
            const EndLink end = network.at_end(times, id, direction);
            if (end.time == kNever) continue;
            ports[n].push_back({end.time.count(), network.busy(id, end.pace).count()});
        }
    }
    return ports;
}

std::vector<std::vector<MessageTime>> message_times(const PacedNetwork& network,
                                                    const std::vector<bool>& carriers,
                                                    const std::vector<bool>& members, Direction direction) {
    const Topology& topology = network.topology();
    // From the NPU itself, so against the direction of what comes to it.
    const Direction away = direction == Direction::Forwards ? Direction::Backwards : Direction::Forwards;
    std::vector<std::vector<MessageTime>> times(topology.npus());
    for (std::size_t n = 0; n < topology.npus(); ++n) {
        if (!carriers[n]) continue;
        // A search that enters NPUs would go on from them.
        const auto found = network.times({{NodeId(n), Ticks(0)}}, away, [&](NodeId node) {
            return topology.is_switch(node) && carriers[node.index()];
        });
        std::map<std::int64_t, MessageTime> sorted;
        for (std::size_t o = 0; o < topology.npus(); ++o) {
            if (o == n || !carriers[o]) continue;
            Ticks least = kNever;
            const auto links =
                away == Direction::Forwards ? topology.in_links(NodeId(o)) : topology.out_links(NodeId(o));
            for (const LinkId id : links) least = std::min(least, network.at_end(found, id, away).time);
            if (least == kNever) continue;
            MessageTime& alike = sorted.try_emplace(least.count(), least.count(), 0, 0).first->second;
            ++(members[o] ? alike.members : alike.relays);
        }
        for (const auto& [time, alike] : sorted) times[n].push_back(alike);
    }
    return times;
}

}  // namespace tutti::bounds
