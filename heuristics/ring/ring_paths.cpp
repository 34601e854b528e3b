#include "heuristics/ring/ring_paths.hpp"

#include <algorithm>

namespace tutti::heuristics {

RingPaths::Rule RingPaths::rule_of(CollectiveId collective) const {
    const bool restricted = graph_.instance().collective(collective).forwarding == Forwarding::Group;
    return restricted ? collective.value() + 1 : 0;
}

RingPaths::PathId RingPaths::request(CollectiveId collective, NodeId from, NodeId to) {
    const auto next = static_cast<PathId>(known_.size());
    return known_.try_emplace({rule_of(collective), from, to}, next).first->second;
}

bool RingPaths::find(const Stop& stop) {
    seen_.assign(graph_.nodes(), 0);
    by_.resize(graph_.nodes());
    paths_.resize(known_.size());
    const auto source = [](const auto& entry) {
        return std::pair(std::get<0>(entry.first), std::get<1>(entry.first));
    };
    for (auto first = known_.cbegin(); first != known_.cend();) {
        if (stop.requested()) return false;
        const auto last = std::find_if(first, known_.cend(),
                                       [&](const auto& entry) { return source(entry) != source(*first); });
        if (!search(first, last)) return false;
        first = last;
    }
    known_.clear();
    return true;
}

bool RingPaths::search(Known::const_iterator first, Known::const_iterator last) {
    const Instance& instance = graph_.instance();
    const auto [rule, from, ignored] = first->first;
    const auto may_carry = [&, rule = rule](NodeId node) {
        return rule == 0 || instance.may_carry(node, CollectiveId(rule - 1));
    };
    const std::uint32_t search = ++searches_;
    const auto is_reached = [&](const auto& entry) {
        return seen_[std::get<2>(entry.first).index()] == search;
    };
    queue_.assign(1, from);
    seen_[from.index()] = search;
    auto missing = first;
    for (std::size_t next = 0; next < queue_.size(); ++next) {
        while (missing != last && is_reached(*missing)) ++missing;
        if (missing == last) break;
        for (const HopEnd& step : graph_.out(queue_[next])) {
            if (seen_[step.node.index()] == search || !may_carry(step.node)) continue;
            seen_[step.node.index()] = search;
            by_[step.node.index()] = step.hop;
            queue_.push_back(step.node);
        }
    }
    for (auto entry = first; entry != last; ++entry) {
        if (!is_reached(*entry)) return false;
        std::vector<HopId>& path = paths_[entry->second];
        for (NodeId at = std::get<2>(entry->first); at != from; at = graph_.from(by_[at.index()]))
            path.push_back(by_[at.index()]);
        std::ranges::reverse(path);
    }
    return true;
}

}  // namespace tutti::heuristics
