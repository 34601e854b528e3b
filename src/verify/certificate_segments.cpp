// One shortest-path search over nodes that store and, for each pace, over nodes that cut through. A segment's
// pace is chosen when it begins, and only links that are fast enough for it continue it; a pace larger than
// needed is allowed, but never cheaper, as prices do not fall with the pace.

#include "verify/certificate_segments.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace tutti::verify {

SegmentPrices times_of_segments(const Instance& instance) {
    return {[&instance](LinkId link, Ticks) { return Wide{instance.alpha(link).count()}; },
            [](Ticks pace) { return Wide{pace.count()}; }};
}

SegmentPaths::SegmentPaths(const Instance& instance, Bytes bytes, Direction direction,
                           const std::vector<Wide>& start, const Enters& enters, SegmentPrices prices)
    : instance_(instance),
      direction_(direction),
      prices_(std::move(prices)),
      betas_(instance.topology().betas(bytes)),
      paces_(betas_),
      at_(instance.topology().nodes(), kNever) {
    const Topology& topology = instance.topology();
    std::ranges::sort(paces_);
    paces_.erase(std::ranges::unique(paces_).begin(), paces_.end());
    within_.assign(paces_.size(), std::vector<Wide>(topology.switches(), kNever));
    const bool forwards = direction == Direction::Forwards;
    constexpr std::size_t kBetweenSegments = SIZE_MAX;
    using Entry = std::tuple<Wide, std::size_t, NodeId>;  // price, pace or kBetweenSegments, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto offer = [&](Wide price, std::size_t pace, NodeId node) {
        Wide& known =
            pace == kBetweenSegments ? at_[node.index()] : within_[pace][node.index() - topology.npus()];
        if (price >= known) return;
        known = price;
        queue.emplace(price, pace, node);
    };
    for (std::size_t v = 0; v < start.size(); ++v) {
        if (start[v] < kNever) offer(start[v], kBetweenSegments, NodeId(v));
    }
    // Backwards a segment begins at its end, so the whole is paid on entering it; forwards on leaving it.
    const auto cross = [&](LinkId link, NodeId next, Wide so_far, std::size_t pace, bool first) {
        if (betas_[link.index()] > paces_[pace]) return;
        const bool last = stores(next);
        if (first && last && betas_[link.index()] != paces_[pace]) return;
        const bool pay = forwards ? last : first;
        const Wide price =
            so_far + prices_.link(link, paces_[pace]) + (pay ? prices_.whole(paces_[pace]) : Wide{0});
        offer(price, last ? kBetweenSegments : pace, next);
    };
    while (!queue.empty()) {
        const auto [price, pace, node] = queue.top();
        queue.pop();
        const bool between = pace == kBetweenSegments;
        if (price > (between ? at_[node.index()] : within_[pace][node.index() - topology.npus()])) continue;
        for (const LinkId link : forwards ? topology.out_links(node) : topology.in_links(node)) {
            const NodeId next = forwards ? topology.link(link).dst : topology.link(link).src;
            if (!enters(next)) continue;
            if (!between) {
                cross(link, next, price, pace, false);
                continue;
            }
            for (std::size_t p = 0; p < paces_.size(); ++p) cross(link, next, price, p, true);
        }
    }
}

std::vector<SegmentPaths::Before> SegmentPaths::before(LinkId link) const {
    const Link& ends = instance_.topology().link(link);
    const bool forwards = direction_ == Direction::Forwards;
    const NodeId near = forwards ? ends.src : ends.dst, other = forwards ? ends.dst : ends.src;
    std::vector<Before> all;
    for (std::size_t p = 0; p < paces_.size(); ++p) {
        const Ticks pace = paces_[p];
        if (betas_[link.index()] > pace) continue;
        if (!stores(near)) {
            const Wide price = within_[p][near.index() - instance_.topology().npus()];
            if (price < kNever) all.push_back({pace, price});
            continue;
        }
        const bool alone = stores(other);
        if (at_[near.index()] >= kNever || (alone && betas_[link.index()] != pace)) continue;
        all.push_back({pace, at_[near.index()] + (forwards ? Wide{0} : prices_.whole(pace))});
    }
    return all;
}

std::pair<Wide, Ticks> SegmentPaths::whole(LinkId link) const {
    std::pair<Wide, Ticks> least{kNever, Ticks::max()};
    for (const auto& [pace, price] : before(link)) {
        const Wide end = direction_ == Direction::Forwards ? prices_.whole(pace) : Wide{0};
        least.first = std::min(least.first, price + prices_.link(link, pace) + end);
        least.second = std::min(least.second, pace);
    }
    return least;
}

}  // namespace tutti::verify
