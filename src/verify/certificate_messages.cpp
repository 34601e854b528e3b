// Messages through time. A message is the part of a chunk's way from one NPU to the next, through switches
// only. A receiver that does not hold a plain chunk gets it by a last message, which some NPU starts that has
// it by then. Where no switch copies, every message has its transfers to itself. So each receiver pays the
// cheapest message that could be its last: it starts at any NPU, not before the chunk can be there, and ends
// by the horizon. A sum that one node wants is the same turned round: each contribution leaves its holder
// with a first message, which must end so early at some NPU that the rest of the way is made in time; where
// no switch adds, messages of different holders share no transfer.
//
// Prices are found as in certificate_timed, by events in order of time: a start needs to be considered only
// when a message has just reached a switch more cheaply, when the chunk is first at an NPU, or when the
// link's price has just fallen. For sums, time runs from the horizon back: a transfer that starts at t and
// takes d starts at horizon - d - t then.

#include "verify/certificate_messages.hpp"

#include <algorithm>
#include <queue>
#include <span>

namespace tutti::verify {

MessagePrices::MessagePrices(const Instance& instance, const TimedLengthsCertificate& timed, Bytes bytes)
    : instance_(instance), timed_(timed), bytes_(bytes) {
    const Topology& topology = instance.topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        copies_ = copies_ || rule.copy;
        adds_ = adds_ || rule.reduce;
        cuts_through_ = cuts_through_ || rule.cut_through;
    }
}

bool MessagePrices::counts(const Need& need) const {
    const Demand demand = instance_.demand(need.chunk);
    if (cuts_through_) return false;
    return demand.reduction ? !adds_ && demand.receivers.size() == 1 : !copies_;
}

Wide MessagePrices::Prices::at(LinkId link, Wide tick) const {
    const auto& of_link = steps[link.index()];
    const auto after = std::ranges::upper_bound(of_link, tick, {}, &Step::tick);
    return after == of_link.begin() ? Wide{0} : std::prev(after)->price;
}

const MessagePrices::Prices& MessagePrices::prices(ChunkId chunk, Direction direction) {
    const auto [entry, is_new] = known_.try_emplace({instance_.demand(chunk).bytes, direction});
    Prices& result = entry->second;
    if (!is_new) return result;
    const Wide horizon = timed_.horizon.count();
    std::vector<std::vector<Step>> changes(instance_.topology().links().size());
    for (const auto& [link, window, weight] : timed_.weights) {
        Wide first = window.count(), end = first + busy(instance_, link, bytes_).count();
        if (direction == Direction::Backwards) {
            const Wide last_start = horizon - arrival(instance_, link, chunk).count();
            std::tie(first, end) = std::pair{last_start - end + 1, last_start - first + 1};
        }
        changes[link.index()].push_back({first, weight});
        changes[link.index()].push_back({end, -Wide{weight}});
    }
    for (std::size_t e = 0; e < changes.size(); ++e) {
        std::ranges::sort(changes[e], {}, &Step::tick);
        auto& sums = result.steps.emplace_back();
        for (std::size_t i = 0; i < changes[e].size();) {
            const Wide tick = changes[e][i].tick, before = sums.empty() ? Wide{0} : sums.back().price;
            Wide price = before;
            for (; i < changes[e].size() && changes[e][i].tick == tick; ++i) price += changes[e][i].price;
            sums.push_back({tick, price});
            if (price < before && tick <= horizon) result.falls.push_back({tick, LinkId(e)});
        }
    }
    std::ranges::stable_sort(result.falls, {}, &Fall::tick);
    return result;
}

/// Per NPU the first tick at which a last message can start there; for sums, the least time left at the end
/// of a first message.
std::vector<Wide> MessagePrices::ready(ChunkId chunk, Direction direction) const {
    const Demand demand = instance_.demand(chunk);
    std::vector<Wide> at(instance_.topology().nodes(), kNever);
    if (direction == Direction::Backwards) {
        at[demand.receivers.front().index()] = 0;
    } else {
        for (const NodeId holder : demand.holders)
            at[holder.index()] = instance_.release_of(demand.collective, holder).count();
    }
    return shortest_paths(instance_, demand.collective, direction, std::move(at),
                          [&](LinkId link) { return Wide{transit(instance_, link, chunk).count()}; });
}

Wide MessagePrices::of(const Need& need) {
    struct Arrival {
        Wide tick, price;
        NodeId node;
        bool is_source;  ///< the chunk is at the NPU, for nothing
        auto operator<=>(const Arrival&) const = default;
    };
    const Demand demand = instance_.demand(need.chunk);
    const Direction direction = demand.reduction ? Direction::Backwards : Direction::Forwards;
    const bool forwards = direction == Direction::Forwards;
    const Topology& topology = instance_.topology();
    const Wide horizon = timed_.horizon.count();
    const Prices& through = prices(need.chunk, direction);

    // Of a switch: the least price of being there. Of an NPU: 0 once the chunk can be there.
    std::vector<Wide> paid(topology.nodes(), kNever), ended(topology.nodes(), kNever);
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
    Wide first = kNever;
    const std::vector<Wide> sources = ready(need.chunk, direction);
    for (std::size_t n = 0; n < topology.npus(); ++n) {
        if (sources[n] >= kNever) continue;
        arrivals.push({sources[n], 0, NodeId(n), true});
        first = std::min(first, sources[n]);
    }
    const auto start = [&](LinkId link, Wide tick, Wide before) {
        if (!may_use(instance_, link, demand.collective)) return;
        const Link& ends = topology.link(link);
        const NodeId next = forwards ? ends.dst : ends.src;
        const Wide end = tick + arrival(instance_, link, need.chunk).count();
        const Wide latest =
            forwards || topology.is_switch(next) || !std::ranges::binary_search(demand.holders, next)
                ? horizon
                : horizon - instance_.release_of(demand.collective, next).count();
        if (end > latest) return;
        const Wide price = before + through.at(link, tick);
        if (topology.is_npu(next)) {
            ended[next.index()] = std::min(ended[next.index()], price);
        } else if (price < paid[next.index()]) {
            arrivals.push({end, price, next, false});
        }
    };
    auto fall = std::ranges::lower_bound(through.falls, first, {}, &Fall::tick);
    while (!arrivals.empty() || fall != through.falls.end()) {
        if (arrivals.empty() || (fall != through.falls.end() && fall->tick < arrivals.top().tick)) {
            const Link& ends = topology.link(fall->link);
            const Wide before = paid[(forwards ? ends.src : ends.dst).index()];
            if (before < kNever) start(fall->link, fall->tick, before);
            ++fall;
            continue;
        }
        const auto [tick, price, node, is_source] = arrivals.top();
        arrivals.pop();
        if (price >= paid[node.index()]) continue;
        paid[node.index()] = price;
        for (const LinkId link : forwards ? topology.out_links(node) : topology.in_links(node))
            start(link, tick, price);
    }

    Wide sum = 0;
    const auto payers = forwards ? demand.receivers : demand.holders;
    const auto others = forwards ? demand.holders : demand.receivers;
    for (const NodeId node : payers) {
        if (std::ranges::binary_search(others, node)) continue;
        if (ended[node.index()] >= kNever) return kNever;
        sum += ended[node.index()];
    }
    return sum;
}

}  // namespace tutti::verify
