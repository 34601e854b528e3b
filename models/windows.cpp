// Earliest-arrival pruning: a hop has variables only at those starts at which the chunk can already be there
// and can still reach a target. At a tight horizon this removes most of the time-expanded network.

#include "models/routing.hpp"

#include <algorithm>
#include <queue>

namespace tutti::models {

std::pair<Units64, Units64> Windows::starts(const Hop& hop, Units64 deadline) const {
    const Units64 first = earliest[hop.from.index()];
    if (first == kNever) return {0, -1};
    Units64 last = -1;
    for (const HopEnd& end : hop.ends) {
        if (latest[end.node.index()] != kNever) last = std::max(last, latest[end.node.index()] - end.after);
    }
    for (const HopEnd& end : hop.ends) last = std::min(last, deadline - end.after);
    return {first, last};
}

Windows windows_of(const Routing& routing, const Commodity& commodity, Units64 horizon) {
    const Network& network = routing.network_of(commodity);
    const std::size_t nodes = network.rule.size();
    Windows windows{std::vector(nodes, Windows::kNever), std::vector(nodes, Windows::kNever)};
    using Event = std::pair<Units64, std::size_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> queue;
    const auto reach = [&](std::size_t node, Units64 time) {
        Units64& known = windows.earliest[node];
        if (known != Windows::kNever && known <= time) return;
        known = time;
        queue.emplace(time, node);
    };
    for (const NodeId source : commodity.sources) reach(source.index(), ready_at(commodity, source));
    while (!queue.empty()) {
        const auto [time, node] = queue.top();
        queue.pop();
        if (time > windows.earliest[node]) continue;
        for (const std::uint32_t h : network.out[node]) {
            for (const HopEnd& end : network.hops[h].ends) reach(end.node.index(), time + end.after);
        }
    }

    std::priority_queue<Event> back;
    std::vector<Units64> due(nodes, horizon);  // what a late contributor adds must come to it before that
    if (network.backwards) {
        for (const auto& [target, spare] : commodity.late) due[target.index()] = horizon - spare;
    }
    const auto needed = [&](std::size_t node, Units64 time) {
        time = std::min(time, due[node]);
        Units64& known = windows.latest[node];
        if (time < 0 || (known != Windows::kNever && known >= time)) return;
        known = time;
        back.emplace(time, node);
    };
    for (const NodeId target : commodity.targets) needed(target.index(), horizon - commodity.spare);
    while (!back.empty()) {
        const auto [time, node] = back.top();
        back.pop();
        if (time < windows.latest[node]) continue;
        for (const std::uint32_t h : network.in[node]) {
            const Hop& hop = network.hops[h];
            for (const HopEnd& end : hop.ends) {
                if (end.node.index() == node) needed(hop.from.index(), time - end.after);
            }
        }
    }
    return windows;
}

}  // namespace tutti::models
