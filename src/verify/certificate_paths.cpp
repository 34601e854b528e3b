#include "verify/certificate_paths.hpp"

#include <algorithm>
#include <queue>

namespace tutti::verify {
namespace {

bool contains(std::span<const NodeId> nodes, NodeId node) { return std::ranges::binary_search(nodes, node); }

bool must_move(const Demand& demand) {
    if (demand.reduction) {
        return demand.holders.size() > 1 || demand.receivers.size() > 1 ||
               demand.holders.front() != demand.receivers.front();
    }
    return std::ranges::any_of(demand.receivers,
                               [&](NodeId node) { return !contains(demand.holders, node); });
}

bool alike(const Demand& a, const Demand& b) {
    return a.collective == b.collective && a.bytes == b.bytes && a.reduction == b.reduction &&
           a.holders.data() == b.holders.data() && a.receivers.data() == b.receivers.data();
}

/// The most prices that are cached: 1 GiB.
constexpr std::size_t kMaxKnownPrices = std::size_t{1} << 26;

}  // namespace

std::vector<Need> needs_of(const Instance& instance) {
    std::vector<Need> needs;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (!needs.empty() && needs.back().chunk.index() + needs.back().count == c &&
            alike(instance.demand(needs.back().chunk), demand)) {
            ++needs.back().count;
        } else if (must_move(demand)) {
            needs.push_back({ChunkId(c), 1});
        }
    }
    return needs;
}

bool may_use(const Instance& instance, LinkId link, CollectiveId collective) {
    const Link& ends = instance.topology().link(link);
    return instance.may_carry(ends.src, collective) && instance.may_carry(ends.dst, collective);
}

CollectiveId representative(const Instance& instance, CollectiveId collective) {
    const auto open = [](const Collective& c) { return c.forwarding == Forwarding::Any; };
    if (!open(instance.collective(collective))) return collective;
    const auto first = std::ranges::find_if(instance.collectives(), open);
    return CollectiveId(static_cast<std::size_t>(first - instance.collectives().begin()));
}

std::vector<bool> carriers(const Instance& instance, const std::set<CollectiveId>& collectives) {
    std::vector<bool> may(instance.topology().nodes());
    for (std::size_t v = 0; v < may.size(); ++v) {
        may[v] = std::ranges::any_of(collectives,
                                     [&](CollectiveId c) { return instance.may_carry(NodeId(v), c); });
    }
    return may;
}

Ticks transit(const Instance& instance, LinkId link, ChunkId chunk) {
    const bool through = instance.topology().is_cut_through(instance.topology().link(link).dst);
    return through ? instance.alpha(link) : instance.alpha(link) + instance.beta(link, chunk);
}

Ticks arrival(const Instance& instance, LinkId link, ChunkId chunk) {
    return instance.alpha(link) + instance.beta(link, chunk);
}

Ticks busy(const Instance& instance, LinkId link, Bytes bytes) {
    return instance.busy(link, instance.topology().beta(link, bytes));
}

std::vector<Wide> shortest_paths(const Instance& instance, CollectiveId collective, Direction direction,
                                 std::vector<Wide> at, const Price& price) {
    const Topology& topology = instance.topology();
    using Entry = std::pair<Wide, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const bool forwards = direction == Direction::Forwards;
    const auto links_of = [&](NodeId node) {
        return forwards ? topology.out_links(node) : topology.in_links(node);
    };
    const auto end_of = [&](LinkId link) {
        return forwards ? topology.link(link).dst : topology.link(link).src;
    };
    // Prices only fall from here on, so a start without a link to a more expensive node never improves one.
    for (std::size_t v = 0; v < at.size(); ++v) {
        if (at[v] >= kNever) continue;
        const auto leads_on = [&](LinkId link) { return at[v] < at[end_of(link).index()]; };
        if (std::ranges::any_of(links_of(NodeId(v)), leads_on)) queue.emplace(at[v], NodeId(v));
    }
    while (!queue.empty()) {
        const auto [so_far, node] = queue.top();
        queue.pop();
        if (so_far > at[node.index()]) continue;
        for (const LinkId link : links_of(node)) {
            if (!may_use(instance, link, collective)) continue;
            const NodeId next = end_of(link);
            const Wide total = so_far + price(link);
            if (total < at[next.index()]) {
                at[next.index()] = total;
                queue.emplace(total, next);
            }
        }
    }
    return at;
}

const std::vector<Wide>& MinimumPrices::prices(ChunkId chunk, std::span<const NodeId> starts) {
    const Demand demand = instance_.demand(chunk);
    std::tuple key{demand.collective, demand.bytes, std::vector<NodeId>(starts.begin(), starts.end())};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (entries_ > kMaxKnownPrices) {
        known_.clear();
        entries_ = 0;
    }
    auto prices = prices_from_(chunk, starts);
    entries_ += prices.size() + starts.size();
    return known_.emplace(std::move(key), std::move(prices)).first->second;
}

Wide MinimumPrices::of(const Need& need) {
    const Demand demand = instance_.demand(need.chunk);
    std::span<const NodeId> receivers = demand.receivers;
    if (target_) {
        const auto found = std::ranges::lower_bound(receivers, *target_);
        if (found == receivers.end() || *found != *target_) return 0;
        receivers = receivers.subspan(static_cast<std::size_t>(found - receivers.begin()), 1);
    }
    Wide highest = 0;
    const auto consider = [&](std::span<const NodeId> starts) {
        const auto& to = prices(need.chunk, starts);
        for (const NodeId receiver : receivers) highest = std::max(highest, to[receiver.index()]);
    };
    if (demand.reduction) {
        for (std::size_t h = 0; h < demand.holders.size(); ++h) consider(demand.holders.subspan(h, 1));
    } else {
        consider(demand.holders);
    }
    return highest;
}

Wide LinkUse::transfers_by(Wide makespan) const {
    if (first >= kNever || last >= kNever || makespan - last < first) return 0;
    return (makespan - last - first) / busy + 1;
}

std::map<std::pair<CollectiveId, Bytes>, std::vector<std::size_t>> by_kind(const Instance& instance,
                                                                           const std::vector<Need>& needs) {
    std::map<std::pair<CollectiveId, Bytes>, std::vector<std::size_t>> kinds;
    auto last = kinds.end();  // equal ones mostly stand side by side
    for (std::size_t i = 0; i < needs.size(); ++i) {
        const Demand demand = instance.demand(needs[i].chunk);
        const std::pair kind{demand.collective, demand.bytes};
        if (last == kinds.end() || last->first != kind) last = kinds.try_emplace(kind).first;
        last->second.push_back(i);
    }
    return kinds;
}

std::vector<Trip> trips_of(const Instance& instance, const std::vector<Need>& needs) {
    std::vector<Trip> trips;
    for (const Need& need : needs) {
        const Demand demand = instance.demand(need.chunk);
        trips.push_back({need.chunk, demand.holders, demand.receivers});
    }
    return trips;
}

std::vector<LinkUse> uses_of_links(const Instance& instance, const std::vector<Trip>& trips, Bytes bytes) {
    const Topology& topology = instance.topology();
    std::vector<LinkUse> uses(topology.links().size());
    std::map<std::pair<CollectiveId, Bytes>, std::vector<const Trip*>> kinds;
    auto last_kind = kinds.end();
    for (const Trip& trip : trips) {
        const Demand demand = instance.demand(trip.chunk);
        const std::pair kind{demand.collective, demand.bytes};
        if (last_kind == kinds.end() || last_kind->first != kind) last_kind = kinds.try_emplace(kind).first;
        last_kind->second.push_back(&trip);
    }
    for (const auto& [kind, members] : kinds) {
        const ChunkId chunk = members.front()->chunk;
        std::vector<Wide> sources(topology.nodes(), kNever), sinks(topology.nodes(), kNever);
        for (const Trip* trip : members) {
            for (const NodeId node : trip->from)
                sources[node.index()] = instance.release_of(kind.first, node).count();
            for (const NodeId node : trip->to) sinks[node.index()] = 0;
        }
        const auto time = [&](LinkId link) { return Wide{transit(instance, link, chunk).count()}; };
        const auto first =
            shortest_paths(instance, kind.first, Direction::Forwards, std::move(sources), time);
        const auto last = shortest_paths(instance, kind.first, Direction::Backwards, std::move(sinks), time);
        for (std::size_t e = 0; e < uses.size(); ++e) {
            const Link& link = topology.link(LinkId(e));
            if (!may_use(instance, LinkId(e), kind.first)) continue;
            if (first[link.src.index()] >= kNever || last[link.dst.index()] >= kNever) continue;
            uses[e].first = std::min(uses[e].first, first[link.src.index()]);
            uses[e].last = std::min(uses[e].last, std::max(Wide{arrival(instance, LinkId(e), chunk).count()},
                                                           time(LinkId(e)) + last[link.dst.index()]));
        }
    }
    for (std::size_t e = 0; e < uses.size(); ++e) uses[e].busy = busy(instance, LinkId(e), bytes).count();
    return uses;
}

std::string text_of(Wide number) {
    if (number < 0) return "-" + text_of(-number);
    std::string digits;
    do {
        digits.push_back(static_cast<char>('0' + static_cast<int>(number % 10)));
        number /= 10;
    } while (number > 0);
    std::ranges::reverse(digits);
    return digits;
}

}  // namespace tutti::verify
