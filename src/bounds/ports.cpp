// Ingress and egress: the cuts around one NPU. What it lacks must come over its incoming links; what it alone
// has (of a reduction: its contribution) must leave over its outgoing ones, early enough for the farthest
// receiver. Counting by earliest arrival, or by remaining time, joins latency and bandwidth in one bound.
//
// Where distances are too many to be kept, the transfers are only counted: O(holders and receivers of all
// chunks).

#include "bounds/cut_rating.hpp"
#include "bounds/families.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

constexpr std::size_t kWorkLimit = 400'000'000;

enum class Port { Ingress, Egress };

/// Calls visit(node) for every NPU through whose port the chunks must pass.
template <class Visit>
void for_each_port(const Demand& demand, Port port, const Visit& visit) {
    const bool only = demand.holders.size() == 1;
    if (port == Port::Ingress) {
        for (const NodeId receiver : demand.receivers) {
            const bool holds = std::ranges::binary_search(demand.holders, receiver);
            if (!holds || (demand.reduction && !only)) visit(receiver);
        }
        return;
    }
    if (!demand.reduction && !only) return;
    for (const NodeId holder : demand.holders) {
        const bool only_itself = demand.receivers.size() == 1 && demand.receivers[0] == holder;
        if (!only_itself) visit(holder);
    }
}

Cut cut_around(const Topology& topology, NodeId npu, Port port) {
    std::vector<bool> inside(topology.nodes(), port == Port::Egress);
    inside[npu.index()] = port == Port::Ingress;
    return Cut(topology, std::move(inside));
}

Bound rated(Traffic& traffic, Port port, const char* kind, Effort& effort) {
    Bound best{kind, Ticks(0), {}, 0};
    const Topology& topology = traffic.topology();
    std::vector<std::vector<const ChunkClass*>> passing(topology.npus());
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        if (!effort.spend(demand.holders.size() + demand.receivers.size())) return best;
        for_each_port(demand, port, [&](NodeId npu) { passing[npu.index()].push_back(&c); });
    }
    CutRater rater(traffic);
    for (std::size_t n = 0; n < topology.npus(); ++n) {
        if (passing[n].empty()) continue;
        const Cut cut = cut_around(topology, NodeId(n), port);
        if (!effort.spend(rater.work(cut, passing[n]) + topology.links().size())) break;
        const auto rating = rater.exact(
            cut, passing[n], port == Port::Ingress ? Sense::Forwards : Sense::Backwards, best.value);
        if (rating) best = rating->bound(kind, cut);
    }
    return best;
}

Bound counted(const Traffic& traffic, Port port, const char* kind, Effort& effort) {
    struct Count {
        std::uint64_t transfers = 0;
        Ticks release = kNever;
        Bytes bytes{INT64_MAX};
    };
    Bound best{kind, Ticks(0), {}, 0};
    const Topology& topology = traffic.topology();
    std::vector<Count> counts(topology.npus());
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        if (!effort.spend(demand.holders.size() + demand.receivers.size())) return best;
        for_each_port(demand, port, [&](NodeId npu) {
            Count& count = counts[npu.index()];
            count.transfers += c.count;
            count.release = std::min(count.release, traffic.release(c));
            count.bytes = std::min(count.bytes, demand.bytes);
        });
    }
    std::vector<Room> rooms;
    for (std::size_t n = 0; n < topology.npus(); ++n) {
        const Count& count = counts[n];
        if (count.transfers == 0) continue;
        rooms.clear();
        for (const LinkId id :
             port == Port::Ingress ? topology.in_links(NodeId(n)) : topology.out_links(NodeId(n))) {
            const Ticks beta = topology.beta(id, count.bytes);
            rooms.push_back(
                {count.release, traffic.instance().alpha(id) + beta, traffic.instance().busy(id, beta)});
        }
        if (enough(rooms, Wide{count.transfers}, best.value)) continue;
        const auto end = least_end(rooms, Wide{count.transfers});
        if (!end) continue;
        best.value = *end;
        best.certificate = CutCertificate{
            {NodeId(n)}, port == Port::Egress, port == Port::Egress, count.transfers, Ticks(0), count.bytes};
    }
    return best;
}

Bound port_bound(Traffic& traffic, Port port, const char* kind, const Stop& stop) {
    Effort effort(kWorkLimit, stop);
    return traffic.huge() ? counted(traffic, port, kind, effort) : rated(traffic, port, kind, effort);
}

}  // namespace

Bound ingress(Traffic& traffic, const Stop& stop) {
    return port_bound(traffic, Port::Ingress, "ingress", stop);
}
Bound egress(Traffic& traffic, const Stop& stop) { return port_bound(traffic, Port::Egress, "egress", stop); }

}  // namespace tutti::bounds
