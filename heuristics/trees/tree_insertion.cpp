// Insertion: chunk by chunk, a tree grown in the time-expanded network (timed_growth) through the gaps that
// earlier chunks left.
//
// Chunks are inserted in order of decreasing distance to the farthest target, equal ones at random: long
// paths first, while there are many gaps; random, because any fixed order loads the same links first (a
// prototype lost 25-60 %).

#include "heuristics/trees/tree_insertion.hpp"

#include "heuristics/trees/timed_growth.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

/// For each spread, the largest number of hops from the sources to a target, by breadth-first search. Spreads
/// with the same sources are usually adjacent, so one search serves them all.
std::vector<std::uint32_t> distances(const HopGraph& graph, const std::vector<Spread>& spreads) {
    constexpr std::uint32_t kFar = UINT32_MAX;
    std::vector<std::uint32_t> farthest(spreads.size());
    std::vector<std::uint32_t> depth(graph.nodes());
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        if (i == 0 || !std::ranges::equal(spreads[i].sources, spreads[i - 1].sources)) {
            std::ranges::fill(depth, kFar);
            std::vector<NodeId> queue(spreads[i].sources.begin(), spreads[i].sources.end());
            for (const NodeId source : queue) depth[source.index()] = 0;
            for (std::size_t next = 0; next < queue.size(); ++next) {
                for (const auto& [to, hop] : graph.out(queue[next])) {
                    if (depth[to.index()] != kFar) continue;
                    depth[to.index()] = depth[queue[next].index()] + 1;
                    queue.push_back(to);
                }
            }
        }
        for (const NodeId target : spreads[i].targets)
            farthest[i] = std::max(farthest[i], depth[target.index()]);
    }
    return farthest;
}

}  // namespace

std::optional<SpreadSolution> insert_trees(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    std::vector<std::size_t> order(problem.spreads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    rng.shuffle(order);
    const auto distance = distances(problem.graph, problem.spreads);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return distance[a] > distance[b]; });

    TimedGrowth growth(problem.graph, problem.calendar, rng);
    SpreadSolution solution;
    for (const std::size_t i : order) {
        if (!growth.grow(problem.spreads[i], {}, Ticks::max(), stop, solution.transfers)) return std::nullopt;
    }
    solution.makespan = growth.makespan();
    return solution;
}

}  // namespace tutti::heuristics
