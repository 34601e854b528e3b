// Through cut-through switches a chunk moves in stretches: all links between two nodes that store it are busy
// for the same time, the largest beta among them, which is paid once. Which pace a stretch will have is not
// known at its first link, so it is guessed there: for each pace at least the first link's beta a state of
// its own goes on, over links that are no slower. A guess above the true pace is only a worse path.

#include "bounds/paced_paths.hpp"

#include <algorithm>
#include <queue>

namespace tutti::bounds {

PacedNetwork::PacedNetwork(const Instance& instance, Bytes bytes)
    : instance_(&instance), topology_(&instance.topology()) {
    const std::vector<Ticks> betas = topology_->betas(bytes);
    paces_ = betas;
    std::ranges::sort(paces_);
    paces_.erase(std::ranges::unique(paces_).begin(), paces_.end());
    for (const Ticks beta : betas) {
        pace_of_.push_back(
            static_cast<std::uint32_t>(std::ranges::lower_bound(paces_, beta) - paces_.begin()));
    }
}

PacedTimes PacedNetwork::times(const std::vector<TimedNode>& from, Direction direction,
                               const Admits& admits) const {
    const bool forwards = direction == Direction::Forwards;
    const std::size_t nodes = topology_->nodes();
    PacedTimes found{std::vector(nodes, kNever), std::vector(paces_.size() * topology_->switches(), kNever)};
    // A state is a node that stores, or `nodes` and the place of a pace at a cut-through switch.
    using Entry = std::pair<Ticks, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto time_of = [&](std::size_t state) -> Ticks& {
        return state < nodes ? found.stored[state] : found.passing[state - nodes];
    };
    const auto reach = [&](std::size_t state, Ticks time) {
        if (time >= time_of(state)) return;
        time_of(state) = time;
        queue.emplace(time, state);
    };
    for (const TimedNode& start : from) reach(start.node.index(), start.time);
    while (!queue.empty()) {
        const auto [time, state] = queue.top();
        queue.pop();
        if (time != time_of(state)) continue;
        const bool here_stores = state < nodes;
        const std::size_t switches = std::max<std::size_t>(topology_->switches(), 1);
        const NodeId here(here_stores ? state : topology_->npus() + (state - nodes) % switches);
        const std::size_t pace = here_stores ? 0 : (state - nodes) / switches;
        for (const LinkId id : forwards ? topology_->out_links(here) : topology_->in_links(here)) {
            const NodeId next = forwards ? topology_->link(id).dst : topology_->link(id).src;
            const std::size_t own = pace_of_[id.index()];
            if ((!here_stores && own > pace) || !admits(next)) continue;
            const Ticks alpha = instance_->alpha(id);
            // Forwards the pace is paid at a stretch's end, backwards at its beginning: in the sum the same.
            if (stores(next)) {
                const Ticks whole = here_stores ? paces_[own] : forwards ? paces_[pace] : Ticks(0);
                reach(next.index(), time + alpha + whole);
            } else if (here_stores) {
                for (std::size_t k = own; k < paces_.size(); ++k)
                    reach(nodes + place(k, next), time + alpha + (forwards ? Ticks(0) : paces_[k]));
            } else {
                reach(nodes + place(pace, next), time + alpha);
            }
        }
    }
    return found;
}

Ticks PacedNetwork::before(const PacedTimes& times, NodeId node, std::size_t pace) const {
    return stores(node) ? times.stored[node.index()] : times.passing[place(pace, node)];
}

Ticks PacedNetwork::after(const PacedTimes& times, NodeId node, std::size_t pace) const {
    return stores(node) ? sum(times.stored[node.index()], paces_[pace]) : times.passing[place(pace, node)];
}

EndLink PacedNetwork::at_end(const PacedTimes& times, LinkId link, Direction direction) const {
    const auto& [src, dst, wire] = topology_->link(link);
    EndLink least;
    // Only one guess is right where the stretch is this link alone.
    const std::size_t own = pace_of_[link.index()];
    const std::size_t end = stores(src) && stores(dst) ? own + 1 : paces_.size();
    for (std::size_t k = own; k < end; ++k) {
        const Ticks time =
            direction == Direction::Forwards ? sum(before(times, src, k), paces_[k]) : after(times, dst, k);
        if (time == kNever) continue;
        least.time = std::min(least.time, time + instance_->alpha(link));
        least.pace = std::min(least.pace, paces_[k]);
    }
    return least;
}

InnerLink PacedNetwork::over(const PacedTimes& forwards, const PacedTimes& backwards, LinkId link) const {
    const auto& [src, dst, wire] = topology_->link(link);
    InnerLink least;
    const std::size_t own = pace_of_[link.index()];
    const std::size_t end = stores(src) && stores(dst) ? own + 1 : paces_.size();
    for (std::size_t k = own; k < end; ++k) {
        const Ticks head = before(forwards, src, k), tail = after(backwards, dst, k);
        if (head == kNever || tail == kNever) continue;
        // Apart, because the first and the last transfer on the link may be of different paces.
        least.before = std::min(least.before, head);
        least.after = std::min(least.after, tail + instance_->alpha(link));
        least.pace = std::min(least.pace, paces_[k]);
    }
    return least;
}

Ticks PacedNetwork::after_pace(const PacedTimes& backwards, LinkId link) const {
    const auto& [src, dst, wire] = topology_->link(link);
    Ticks least = kNever;
    for (std::size_t k = pace_of_[link.index()]; k < paces_.size(); ++k) {
        const Ticks time = after(backwards, dst, k);
        if (time != kNever) least = std::min(least, time - paces_[k] + instance_->alpha(link));
    }
    return least;
}

}  // namespace tutti::bounds
