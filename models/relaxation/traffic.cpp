#include "models/relaxation/traffic.hpp"

#include "bounds/shortest_paths.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::models {
namespace {

bool contains(std::span<const NodeId> nodes, NodeId node) { return std::ranges::binary_search(nodes, node); }

/// Least times between nodes, remembered.
class Times {
  public:
    explicit Times(const Instance& instance) : instance_(instance) {}
    const std::vector<std::int64_t>& from(const Kind& kind, const std::vector<NodeId>& nodes) {
        return known(kind, nodes, true);
    }
    const std::vector<std::int64_t>& to(const Kind& kind, NodeId node) { return known(kind, {node}, false); }

  private:
    const std::vector<std::int64_t>& known(const Kind& kind, const std::vector<NodeId>& nodes,
                                           bool forwards) {
        const auto network = networks_.try_emplace(kind, instance_, kind, 1).first;
        auto& times = times_[{kind, nodes, forwards}];
        if (times.empty()) times = forwards ? network->second.from(nodes) : network->second.to(nodes);
        return times;
    }
    const Instance& instance_;
    std::map<Kind, KindNetwork> networks_;
    std::map<std::tuple<Kind, std::vector<NodeId>, bool>, std::vector<std::int64_t>> times_;
};

/// The member of `nodes`, other than `but`, with the largest time.
std::optional<NodeId> farthest(std::span<const NodeId> nodes, NodeId but,
                               const std::vector<std::int64_t>& times) {
    std::optional<NodeId> best;
    for (const NodeId node : nodes) {
        if (node != but && (!best || times[node.index()] > times[best->index()])) best = node;
    }
    return best;
}

/// From where to where one chunk must get, as selected; none if it need not.
std::optional<std::pair<std::vector<NodeId>, NodeId>> endpoints_of(const Instance& instance,
                                                                   const Demand& demand, const Kind& kind,
                                                                   const Selection& selection, Times& times) {
    if (selection.target && !contains(demand.receivers, *selection.target)) return {};
    if (!demand.reduction) {
        if (selection.source) return {};
        std::vector<NodeId> from(demand.holders.begin(), demand.holders.end());
        const auto& after = times.from(kind, from);
        const NodeId to =
            selection.target ? *selection.target : *farthest(demand.receivers, NodeId(kMaxNodes), after);
        if (contains(demand.holders, to)) return {};
        return std::pair(std::move(from), to);
    }
    if (selection.source) {
        if (!contains(demand.holders, *selection.source)) return {};
        const auto to = farthest(demand.receivers, *selection.source, times.from(kind, {*selection.source}));
        return to ? std::optional(std::pair(std::vector{*selection.source}, *to)) : std::nullopt;
    }
    std::optional<std::pair<std::vector<NodeId>, NodeId>> best;
    std::int64_t longest = -1;
    for (const NodeId to : demand.receivers) {
        if (selection.target && to != *selection.target) continue;
        const auto& before = times.to(kind, to);
        for (const NodeId from : demand.holders) {
            const std::int64_t time = before[from.index()] + instance.release(kind.chunk, from).count();
            if (from == to || time <= longest) continue;
            longest = time;
            best = std::pair(std::vector{from}, to);
        }
    }
    return best;
}

}  // namespace

std::vector<Trip> trips_of(const Instance& instance, const Selection& selection) {
    Times times(instance);
    std::map<std::tuple<Kind, std::vector<NodeId>, NodeId>, std::int64_t> counts;
    for (std::size_t c = 0; c < instance.chunks();) {
        const Demand demand = instance.demand(ChunkId(c));
        // Equal chunks stand side by side and share their sets of nodes.
        std::size_t end = c + 1;
        for (; end < instance.chunks(); ++end) {
            const Demand other = instance.demand(ChunkId(end));
            if (other.holders.data() != demand.holders.data() ||
                other.receivers.data() != demand.receivers.data() || other.collective != demand.collective ||
                other.bytes != demand.bytes || other.reduction != demand.reduction) {
                break;
            }
        }
        Kind kind{demand.collective, demand.bytes, instance.release(ChunkId(c)), ChunkId(c)};
        if (auto ends = endpoints_of(instance, demand, kind, selection, times)) {
            if (demand.reduction) kind.release = instance.release(ChunkId(c), ends->first.front());
            counts[{kind, std::move(ends->first), ends->second}] += static_cast<std::int64_t>(end - c);
        }
        c = end;
    }
    std::vector<Trip> trips;
    for (const auto& [key, count] : counts) {
        trips.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
    }
    return trips;
}

std::vector<Selection> selections(const Instance& instance) {
    std::vector<bool> targets(instance.topology().npus(), false), sources(instance.topology().npus(), false);
    bool choice = false;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        const std::size_t both = demand.receivers.size() * (demand.reduction ? demand.holders.size() : 1);
        choice = choice || both > 1;
        for (const NodeId node : demand.receivers) targets[node.index()] = true;
        if (!demand.reduction) continue;
        for (const NodeId node : demand.holders) sources[node.index()] = true;
    }
    std::vector<Selection> all{{}};
    for (std::size_t v = 0; v < targets.size() && choice; ++v) {
        if (targets[v]) all.push_back({.target = NodeId(v), .source = {}});
        if (sources[v]) all.push_back({.target = {}, .source = NodeId(v)});
    }
    return all;
}

std::vector<Shipment> shipments(const std::vector<Trip>& trips) {
    std::map<std::pair<Kind, std::vector<NodeId>>, std::vector<const Trip*>> by_source, by_target;
    for (const Trip& trip : trips) {
        by_source[{trip.kind, trip.from}].push_back(&trip);
        by_target[{trip.kind, {trip.to}}].push_back(&trip);
    }
    const bool source = by_source.size() <= by_target.size();
    std::vector<Shipment> all;
    for (auto& [key, members] : source ? by_source : by_target) {
        all.push_back({key.first, source, std::move(members)});
    }
    return all;
}

KindNetwork::KindNetwork(const Instance& instance, const Kind& kind, std::int64_t unit)
    : topology_(instance.topology()), release_(kind.release.count() / unit) {
    for (std::size_t e = 0; e < topology_.links().size(); ++e) {
        const LinkId id(e);
        const Link& link = topology_.link(id);
        const std::int64_t alpha = instance.alpha(id).count() / unit;
        const std::int64_t arrival = alpha + instance.beta(id, kind.chunk).count() / unit;
        const bool usable =
            instance.may_carry(link.src, kind.collective) && instance.may_carry(link.dst, kind.collective);
        arrival_.push_back(usable ? arrival : kUnreachable);
        transit_.push_back(!usable ? kUnreachable : topology_.is_cut_through(link.dst) ? alpha : arrival);
    }
}

std::vector<std::int64_t> KindNetwork::cheapest(const std::vector<NodeId>& start,
                                                const std::vector<std::int64_t>* length,
                                                bool forwards) const {
    const auto step = [&](LinkId link, NodeId) {
        if (!usable(link.index())) return kUnreachable;
        return length != nullptr ? (*length)[link.index()] : transit(link.index());
    };
    const auto direction = forwards ? bounds::Direction::Forwards : bounds::Direction::Backwards;
    return bounds::shortest_paths(topology_, start, direction, kUnreachable, step);
}

std::vector<std::int64_t> KindNetwork::from(const std::vector<NodeId>& from,
                                            const std::vector<std::int64_t>* length) const {
    return cheapest(from, length, true);
}

std::vector<std::int64_t> KindNetwork::to(const std::vector<NodeId>& to,
                                          const std::vector<std::int64_t>* length) const {
    return cheapest(to, length, false);
}

std::int64_t least(const Trip& trip, bool by_source, const std::vector<std::int64_t>& lengths) {
    if (by_source) return lengths[trip.to.index()];
    std::int64_t best = kUnreachable;
    for (const NodeId node : trip.from) best = std::min(best, lengths[node.index()]);
    return best;
}

std::int64_t longest_trip(const Instance& instance, const std::vector<Shipment>& shipments,
                          std::int64_t unit) {
    std::int64_t longest = 0;
    for (const Shipment& shipment : shipments) {
        const KindNetwork network(instance, shipment.kind, unit);
        const Trip& first = *shipment.trips.front();
        const auto times = shipment.by_source ? network.from(first.from) : network.to({first.to});
        for (const Trip* trip : shipment.trips) {
            longest = std::max(longest, network.release() + least(*trip, shipment.by_source, times));
        }
    }
    return longest;
}

Bytes smallest(const Instance& instance, const Selection& selection) {
    std::optional<Bytes> least;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (selection.target && !contains(demand.receivers, *selection.target)) continue;
        least = std::min(least.value_or(demand.bytes), demand.bytes);
    }
    return least.value_or(Bytes{});
}

std::int64_t common_divisor(const Instance& instance, const std::vector<Trip>& trips, Bytes bytes) {
    std::vector<Bytes> sizes{bytes};
    std::int64_t divisor = 0;
    for (const Trip& trip : trips) {
        divisor = std::gcd(divisor, trip.kind.release.count());
        if (std::ranges::find(sizes, trip.kind.bytes) == sizes.end()) sizes.push_back(trip.kind.bytes);
    }
    for (std::size_t e = 0; e < instance.topology().links().size() && divisor != 1; ++e) {
        divisor = std::gcd(divisor, instance.alpha(LinkId(e)).count());
        for (const Bytes size : sizes)
            divisor = std::gcd(divisor, instance.topology().beta(LinkId(e), size).count());
    }
    return std::max<std::int64_t>(divisor, 1);
}

}  // namespace tutti::models
