#include "timing/router.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <queue>

namespace tutti::timing {
namespace {

/// The most node costs that are kept over all trees.
constexpr std::size_t kMostKept = std::size_t{1} << 21;

constexpr std::pair<Ticks, Ticks> kFar{Ticks::max(), Ticks::max()};

std::pair<Ticks, Ticks> sum(const std::pair<Ticks, Ticks>& a, const std::pair<Ticks, Ticks>& b) {
    return {a.first + b.first, a.second + b.second};
}

}  // namespace

std::optional<Route> Router::route(NodeId from, NodeId to, std::uint32_t turn) {
    expects(from != to && topology_.is_npu(from) && topology_.is_npu(to));
    if (auto found = direct(from, to, turn)) return found;
    if (auto found = trace_back(Through::Switches, from, to, turn)) return found;
    return trace_back(Through::AnyNode, from, to, turn);
}

std::optional<Route> Router::direct(NodeId from, NodeId to, std::uint32_t turn) const {
    std::vector<LinkId> best;
    Cost least = kFar;
    for (const LinkId link : topology_.out_links(from)) {
        if (topology_.link(link).dst != to) continue;
        const Cost cost{topology_.beta(link, chunk_), topology_.link(link).wire.alpha};
        if (cost > least) continue;
        if (cost < least) best.clear();
        least = cost;
        best.push_back(link);
    }
    if (best.empty()) return std::nullopt;
    return Route{{best[turn % best.size()]}, 0};
}

Router::Cost Router::cost_of(LinkId id) const {
    const Link& link = topology_.link(id);
    const Ticks beta = topology_.beta(id, chunk_);
    return {topology_.is_cut_through(link.dst) ? link.wire.alpha : link.wire.alpha + beta, beta};
}

Router::Tree& Router::tree(Through through, NodeId from) {
    auto& trees = trees_[static_cast<int>(through)];
    if (trees.size() * topology_.nodes() > kMostKept && !trees.contains(from)) trees.clear();
    const auto [entry, is_new] = trees.try_emplace(from);
    if (is_new) {
        entry->second.from = from;
        grow(entry->second, through);
    }
    return entry->second;
}

void Router::grow(Tree& tree, Through through) const {
    const NodeId from = tree.from;
    tree.cost.assign(topology_.nodes(), kFar);
    tree.cost[from.index()] = {Ticks(0), Ticks(0)};
    using Reached = std::pair<Cost, NodeId>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
    open.emplace(tree.cost[from.index()], from);
    while (!open.empty()) {
        const auto [cost, node] = open.top();
        open.pop();
        if (cost != tree.cost[node.index()] || !passes(through, tree, node)) continue;
        for (const LinkId link : topology_.out_links(node)) {
            const NodeId next = topology_.link(link).dst;
            const Cost reached = sum(cost, cost_of(link));
            if (reached >= tree.cost[next.index()]) continue;
            tree.cost[next.index()] = reached;
            open.emplace(reached, next);
        }
    }
}

const std::vector<LinkId>& Router::last_links(Tree& tree, Through through, NodeId node) const {
    const auto [entry, is_new] = tree.last.try_emplace(node);
    if (!is_new) return entry->second;
    for (const LinkId link : topology_.in_links(node)) {
        const NodeId before = topology_.link(link).src;
        const Cost& reached = tree.cost[before.index()];
        if (reached == kFar || !passes(through, tree, before)) continue;
        if (sum(reached, cost_of(link)) == tree.cost[node.index()]) entry->second.push_back(link);
    }
    return entry->second;
}

std::optional<Route> Router::trace_back(Through through, NodeId from, NodeId to, std::uint32_t turn) {
    Tree& best = tree(through, from);
    if (best.cost[to.index()] == kFar) return std::nullopt;
    Route route;
    for (NodeId node = to; node != from;) {
        const std::vector<LinkId>& good = last_links(best, through, node);
        const LinkId link = good[turn % good.size()];
        turn /= static_cast<std::uint32_t>(good.size());
        route.links.push_back(link);
        node = topology_.link(link).src;
        if (node != from && topology_.is_npu(node)) ++route.relays;
    }
    std::ranges::reverse(route.links);
    return route;
}

}  // namespace tutti::timing
