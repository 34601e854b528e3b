#include "bounds/message_ports.hpp"

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

}  // namespace tutti::bounds
