// The textbook all-reduces along trees, and how they compare with the others, as plans for the two schedulers
// of this directory: sum_trees and rounds.
//
// | algorithm | plan of a chunk | messages | latencies |
// | --- | --- | --- | --- |
// | recursive doubling | rounds of pairs | n log n | log n |
// | recursive multiplying | rounds of larger meetings | n sum(r - 1) | number of radices |
// | all pairs | one meeting of all | n (n-1) | 1 |
// | halving and doubling | a binomial tree at the chunk's root | 2 (n-1) | up to 2 log n |
// | direct | a star at the chunk's root | 2 (n-1) | 2 |
// | ring both ways | the ring without an edge | 2 (n-1) | n |
// | double trees | a balanced binary tree | 2 (n-1) | 4 log n |
// | two levels | a tree in each part, one over their leaders | 2 (n-1) | 4 and more |
//
// Which one is best depends on the size of the chunks, so all are tried that are not too large. Chunks differ
// in their root, or in the order of their rounds, so that they use different links at a time. On a 4-cube
// with alpha 100, beta 1 and 16 chunks, recursive doubling takes 407, the bound, where trees took 808.

#include "heuristics/exchange/tree_exchanges.hpp"

#include "heuristics/exchange/best_exchange.hpp"
#include "heuristics/exchange/estimates.hpp"
#include "heuristics/releases.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostTreesEstimated = std::size_t{1} << 17;  ///< messages of all trees

std::size_t place_in(const std::vector<NodeId>& order, NodeId node) {
    return static_cast<std::size_t>(std::ranges::find(order, node) - order.begin());
}

TreeEdges halving_tree(std::span<const NodeId> order, std::size_t root) {
    return binomial_tree(order, root, true);
}
TreeEdges doubling_tree(std::span<const NodeId> order, std::size_t root) {
    return binomial_tree(order, root, false);
}

/// The members that are released last, where others are earlier.
std::vector<NodeId> late_members(const Exchanges& exchanges, const Exchanges::Set& set) {
    const Instance& instance = exchanges.instance();
    std::vector<NodeId> late;
    if (set.chunks.empty() || !instance.is_staggered(set.chunks.front())) return late;
    const ChunkId chunk = set.chunks.front();
    for (const NodeId member : set.members) {
        if (release_at(instance, chunk, member) == instance.last_release(chunk)) late.push_back(member);
    }
    return late.size() < set.members.size() ? late : std::vector<NodeId>{};
}

/// The same with the last ranks as leaves at the root: their contributions go in last, into the sum of the
/// others. A root that is late itself is replaced by another member, in turn.
void add_late_leaves(std::vector<TreeMaker>& makers, const Exchanges& exchanges, TreeOf tree_of) {
    if (std::ranges::all_of(exchanges.sets(),
                            [&](const Exchanges::Set& set) { return late_members(exchanges, set).empty(); }))
        return;
    makers.emplace_back([&exchanges, tree_of](const Exchanges::Set& set, NodeId root) {
        const auto late = late_members(exchanges, set);
        const auto is_late = [&](NodeId npu) { return std::ranges::find(late, npu) != late.end(); };
        std::vector<NodeId> order = set.orders.front();
        std::erase_if(order, is_late);
        if (is_late(root)) root = order[root.index() % order.size()];
        TreeEdges edges = tree_of(order, place_in(order, root));
        for (const NodeId npu : late) edges.emplace_back(root, npu);
        return edges;
    });
}

/// The tree over every order of the ranks.
void add_orders(std::vector<TreeMaker>& makers, const Exchanges& exchanges, TreeOf tree_of) {
    std::size_t orders = 0;
    for (const Exchanges::Set& set : exchanges.sets()) orders = std::max(orders, set.orders.size());
    for (std::size_t o = 0; o < orders; ++o) {
        makers.emplace_back([o, tree_of](const Exchanges::Set& set, NodeId root) {
            const auto& order = set.orders[o % set.orders.size()];
            return tree_of(order, place_in(order, root));
        });
    }
    add_late_leaves(makers, exchanges, tree_of);
}

void add_levels(std::vector<TreeMaker>& makers, const Exchanges& exchanges) {
    std::size_t levels = 0;
    for (const Exchanges::Set& set : exchanges.sets()) levels = std::max(levels, set.levels.size());
    const std::vector<std::pair<TreeOf, TreeOf>> shapes{
        {star_tree, star_tree},    {star_tree, halving_tree},    {star_tree, ring_tree},
        {halving_tree, star_tree}, {halving_tree, halving_tree}, {ring_tree, ring_tree}};
    for (std::size_t level = 0; level < levels; ++level) {
        for (const auto& [inner, outer] : shapes) {
            makers.emplace_back(
                [level, inner = inner, outer = outer](const Exchanges::Set& set, NodeId root) {
                    if (set.levels.empty()) return star_tree(set.members, place_in(set.members, root));
                    return two_level_tree(set.levels[level % set.levels.size()], root, inner, outer);
                });
        }
    }
}

/// From the root to the farthest node of the tree; the largest number if an edge has no way.
Ticks depth_of(const MessageGraph& graph, const SumTree& tree, NodeId root) {
    std::map<NodeId, std::vector<NodeId>> next;
    for (const auto& [a, b] : tree.edges) {
        if (!graph.joins(a, b) || !graph.joins(b, a)) return Ticks::max();
        next[a].push_back(b);
        next[b].push_back(a);
    }
    Ticks depth;
    std::vector<std::tuple<NodeId, NodeId, Ticks>> stack{{root, root, Ticks(0)}};
    while (!stack.empty()) {
        const auto [at, before, time] = stack.back();
        stack.pop_back();
        depth = std::max(depth, time);
        for (const NodeId node : next[at]) {
            if (node != before) stack.emplace_back(node, at, time + graph.time(at, node, tree.chunk));
        }
    }
    return depth;
}

/// What the trees take, about: twice the depth, and the time of the fullest link.
Ticks estimated(const Exchanges& exchanges, const TreeMaker& maker) {
    if (exchanges.tree_messages() > kMostTreesEstimated) return Ticks::max();
    const MessageGraph& graph = exchanges.graph();
    LoadEstimate loads(graph);
    Ticks latency;
    for (const Exchanges::Set& set : exchanges.sets()) {
        for (std::size_t i = 0; i < set.chunks.size() && set.members.size() > 1; ++i) {
            const SumTree tree{set.chunks[i], maker(set, set.roots[i])};
            if (i == 0) {
                const Ticks depth = depth_of(graph, tree, set.roots[i]);
                if (depth == Ticks::max()) return depth;
                latency = std::max(latency, depth * 2);
            }
            for (const auto& [a, b] : tree.edges) {
                if (!graph.joins(a, b) || !graph.joins(b, a)) return Ticks::max();
                loads.add(a, b, tree.chunk);
                loads.add(b, a, tree.chunk);
            }
        }
    }
    return latency + loads.fullest();
}

Ticks least_estimate(const std::vector<TreeMaker>& makers, const Exchanges& exchanges) {
    Ticks least = Ticks::max();
    for (const TreeMaker& maker : makers) least = std::min(least, estimated(exchanges, maker));
    return least;
}

/// In the order of the estimates.
std::optional<Schedule> best_of(const std::vector<TreeMaker>& makers, const Exchanges& exchanges,
                                Ticks target, const ExchangeTurn& turn) {
    BestExchange best(exchanges, target, turn);
    const std::size_t messages = exchanges.tree_messages();
    const auto batches = batches_of(exchanges);
    const bool several = std::ranges::any_of(batches, [](std::uint32_t batch) { return batch > 0; });
    std::vector<std::pair<Ticks, const TreeMaker*>> tries;
    for (const TreeMaker& maker : makers)
        tries.emplace_back(makers.size() > 1 ? estimated(exchanges, maker) : Ticks(0), &maker);
    std::ranges::stable_sort(tries, {}, &std::pair<Ticks, const TreeMaker*>::first);
    for (const auto& [estimate, maker] : tries) {
        if (!best.goes_on(messages)) break;
        const auto trees = trees_of(exchanges, *maker);
        // With one batch all chunks are summed up before any is distributed.
        best.take(schedule_sum_trees(exchanges.graph(), trees, {}, best.stop()));
        SumTreeOrder order{.ties = SumTreeTies::Chunk};
        if (best.goes_on(messages))
            best.take(schedule_sum_trees(exchanges.graph(), trees, order, best.stop()));
        order = {.batches = batches};
        if (several && best.goes_on(messages))
            best.take(schedule_sum_trees(exchanges.graph(), trees, order, best.stop()));
    }
    return best.schedule();
}

std::vector<TreeMaker> stars(const Exchanges& exchanges) {
    std::vector<TreeMaker> makers;
    makers.emplace_back([](const Exchanges::Set& set, NodeId root) {
        return star_tree(set.members, place_in(set.members, root));
    });
    add_late_leaves(makers, exchanges, star_tree);
    return makers;
}
std::vector<TreeMaker> binomial_trees(const Exchanges& exchanges) {
    std::vector<TreeMaker> makers;
    add_orders(makers, exchanges, halving_tree);
    add_orders(makers, exchanges, doubling_tree);
    return makers;
}
std::vector<TreeMaker> in_all_orders(const Exchanges& exchanges, TreeOf tree_of) {
    std::vector<TreeMaker> makers;
    add_orders(makers, exchanges, tree_of);
    return makers;
}
std::vector<TreeMaker> on_all_levels(const Exchanges& exchanges) {
    std::vector<TreeMaker> makers;
    add_levels(makers, exchanges);
    return makers;
}

}  // namespace

std::vector<SumTree> trees_of(const Exchanges& exchanges, const TreeMaker& maker) {
    std::vector<SumTree> trees;
    for (const Exchanges::Set& set : exchanges.sets()) {
        for (std::size_t i = 0; i < set.chunks.size(); ++i) {
            trees.push_back({set.chunks[i], set.members.size() < 2 ? TreeEdges{} : maker(set, set.roots[i])});
        }
    }
    return trees;
}

std::vector<std::uint32_t> batches_of(const Exchanges& exchanges) {
    std::vector<std::uint32_t> batches;
    for (const Exchanges::Set& set : exchanges.sets()) {
        for (std::size_t i = 0; i < set.chunks.size(); ++i)
            batches.push_back(static_cast<std::uint32_t>(i / set.members.size()));
    }
    return batches;
}

std::vector<TreeMaker> textbook_trees(const Exchanges& exchanges) {
    std::vector<TreeMaker> makers;
    for (const TreeOf tree : {star_tree, halving_tree, doubling_tree, ring_tree, binary_tree})
        add_orders(makers, exchanges, tree);
    add_levels(makers, exchanges);
    return makers;
}

std::optional<Schedule> direct_exchange(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    return best_of(stars(exchanges), exchanges, target, turn);
}
std::optional<Schedule> halving_doubling(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    return best_of(binomial_trees(exchanges), exchanges, target, turn);
}
std::optional<Schedule> two_way_ring(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    return best_of(in_all_orders(exchanges, ring_tree), exchanges, target, turn);
}
std::optional<Schedule> double_trees(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    return best_of(in_all_orders(exchanges, binary_tree), exchanges, target, turn);
}
std::optional<Schedule> two_level_trees(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    return best_of(on_all_levels(exchanges), exchanges, target, turn);
}

Ticks estimate_direct(const Exchanges& exchanges) { return least_estimate(stars(exchanges), exchanges); }
Ticks estimate_halving(const Exchanges& exchanges) {
    return least_estimate(binomial_trees(exchanges), exchanges);
}
Ticks estimate_ring(const Exchanges& exchanges) {
    return least_estimate(in_all_orders(exchanges, ring_tree), exchanges);
}
Ticks estimate_double_trees(const Exchanges& exchanges) {
    return least_estimate(in_all_orders(exchanges, binary_tree), exchanges);
}
Ticks estimate_two_levels(const Exchanges& exchanges) {
    return least_estimate(on_all_levels(exchanges), exchanges);
}

}  // namespace tutti::heuristics
