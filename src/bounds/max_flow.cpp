#include "bounds/max_flow.hpp"

#include <algorithm>

namespace tutti::bounds {

std::size_t MaxFlow::add_node() {
    first_.push_back(kNone);
    return first_.size() - 1;
}

std::size_t MaxFlow::add_arc(std::size_t from, std::size_t to, std::int64_t capacity) {
    const std::size_t arc = arcs_.size();
    arcs_.push_back({static_cast<std::uint32_t>(to), first_[from]});
    first_[from] = static_cast<std::uint32_t>(arc);
    arcs_.push_back({static_cast<std::uint32_t>(from), first_[to]});
    first_[to] = static_cast<std::uint32_t>(arc + 1);
    capacity_.push_back(capacity);
    return arc;
}

std::int64_t MaxFlow::flow(std::size_t source, std::size_t sink, std::int64_t enough) {
    residual_.assign(arcs_.size(), 0);
    for (std::size_t i = 0; i < capacity_.size(); ++i) residual_[2 * i] = capacity_[i];
    std::int64_t total = 0;
    while (total < enough && find_levels(source, sink)) {
        current_ = first_;
        while (total < enough) {
            const std::int64_t pushed = push(source, sink, enough - total);
            if (pushed == 0) break;
            total += pushed;
        }
    }
    return total;
}

bool MaxFlow::find_levels(std::size_t source, std::size_t sink) {
    level_.assign(first_.size(), kNone);
    level_[source] = 0;
    queue_.assign(1, static_cast<std::uint32_t>(source));
    for (std::size_t next = 0; next < queue_.size(); ++next) {
        const std::uint32_t node = queue_[next];
        for (std::uint32_t a = first_[node]; a != kNone; a = arcs_[a].next) {
            ++work_;
            const std::uint32_t to = arcs_[a].to;
            if (residual_[a] == 0 || level_[to] != kNone) continue;
            level_[to] = level_[node] + 1;
            queue_.push_back(to);
        }
    }
    return level_[sink] != kNone;
}

/// One augmenting path along the levels, without recursion: paths may be long.
std::int64_t MaxFlow::push(std::size_t source, std::size_t sink, std::int64_t most) {
    path_.clear();
    std::size_t node = source;
    while (node != sink) {
        std::uint32_t& a = current_[node];
        while (a != kNone && (residual_[a] == 0 || level_[arcs_[a].to] != level_[node] + 1)) {
            a = arcs_[a].next;
            ++work_;
        }
        if (a != kNone) {
            path_.push_back(a);
            node = arcs_[a].to;
            ++work_;
            continue;
        }
        if (path_.empty()) return 0;
        node = arcs_[path_.back() ^ 1U].to;  // a dead end: go back, and try that node's next arc
        current_[node] = arcs_[path_.back()].next;
        path_.pop_back();
    }
    for (const std::uint32_t a : path_) most = std::min(most, residual_[a]);
    for (const std::uint32_t a : path_) {
        residual_[a] -= most;
        residual_[a ^ 1U] += most;
    }
    return most;
}

}  // namespace tutti::bounds
