// Trimming: only few transfers arrive at the end of a schedule.
//
// List-scheduled trees keep all links busy until, towards the end, only a few links still have work. On an
// 8x8x8 torus with eight scattered groups of 64 (all-gather) a schedule of 29 steps does 99 % of its sends in
// the first 25. So for a deadline before the end, remove every transfer that arrives after it, its
// descendants, and the relays that then serve no target; most of each tree remains. Then grow the trees again
// to the targets they lost (timed_growth), through the gaps of the calendar and not beyond the deadline.
// Every node of the tree is now a source, from the time it has the chunk, so the new paths are short.
//
// Targets that no gap leads to are reached by taking other transfers' slots (tree_exchange), if they are few.
//
// The deadline is searched by bisection between the bound and the makespan, then downwards from there.
//
// Above: 29 -> 25 steps in 0.03 s without exchange, 24 in 0.2 s with it. At 23, 200 of the 512 trees remain
// incomplete.

#include "heuristics/trees/trim.hpp"

#include "heuristics/trees/tree_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace tutti::heuristics {
namespace {

constexpr std::uint32_t kRoot = UINT32_MAX;

/// The transfers of all spreads, tree by tree, in order of start, with their dependencies.
class TimedTrees {
  public:
    TimedTrees(const SpreadProblem& problem, const std::vector<Transfer>& transfers);

    /// What remains of each tree with only arrivals up to the deadline: transfers that serve a target in
    /// time.
    [[nodiscard]] std::vector<std::vector<Transfer>> cut(Ticks deadline);

  private:
    struct Row {
        Transfer transfer;
        Ticks arrival;
        std::uint32_t parent;
        bool first;  ///< nothing arrives at its end before it
    };
    void find_parents(std::uint32_t begin, std::uint32_t end, const Spread& spread);
    std::uint32_t taken(NodeId node);

    const SpreadProblem& problem_;
    std::vector<std::uint32_t> begin_;
    std::vector<Row> rows_;
    std::vector<bool> sources_;
    std::vector<std::uint32_t> reached_;  ///< by node: the first arrival in the tree at hand
    std::vector<std::uint32_t> passing_;  ///< arrivals at stops that do not branch, not yet passed on
    std::vector<std::uint32_t> wanted_;   ///< by node: the last spread, plus 1, of which it is a target
};

TimedTrees::TimedTrees(const SpreadProblem& problem, const std::vector<Transfer>& transfers)
    : problem_(problem),
      begin_(problem.spreads.size() + 1, 0),
      rows_(transfers.size()),
      sources_(problem.graph.nodes(), false),
      wanted_(problem.graph.nodes(), 0) {
    std::unordered_map<ChunkId, std::uint32_t> spread_of;
    for (std::size_t i = 0; i < problem.spreads.size(); ++i) {
        spread_of[problem.spreads[i].chunk] = static_cast<std::uint32_t>(i);
    }
    for (const Transfer& transfer : transfers) ++begin_[spread_of[transfer.chunk] + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    auto next = begin_;
    for (const Transfer& transfer : transfers) {
        rows_[next[spread_of[transfer.chunk]]++] = {
            transfer, transfer.start + problem.graph.transit(transfer.hop, transfer.chunk), kRoot, false};
    }
    for (std::size_t i = 0; i < problem.spreads.size(); ++i) {
        std::sort(rows_.begin() + begin_[i], rows_.begin() + begin_[i + 1], [](const Row& a, const Row& b) {
            return a.transfer.start != b.transfer.start ? a.transfer.start < b.transfer.start
                                                        : a.transfer.hop < b.transfer.hop;
        });
        find_parents(begin_[i], begin_[i + 1], problem.spreads[i]);
    }
}

/// A send reads the first arrival; at a stop that does not branch, the arrivals are forwarded one by one. An
/// arrival before a transfer's start began before it, so the order of starts is one from parents to children.
void TimedTrees::find_parents(std::uint32_t begin, std::uint32_t end, const Spread& spread) {
    const HopGraph& graph = problem_.graph;
    reached_.assign(graph.nodes(), kRoot);
    for (const NodeId node : spread.sources) sources_[node.index()] = true;
    for (std::uint32_t r = begin; r < end; ++r) {
        const Hop hop = graph.hop(rows_[r].transfer.hop);
        if (!sources_[hop.from.index()]) {
            rows_[r].parent = graph.branches(hop.from) ? reached_[hop.from.index()] : taken(hop.from);
        }
        if (!graph.branches(hop.to)) {
            passing_.push_back(r);
            continue;
        }
        std::uint32_t& first = reached_[hop.to.index()];
        if (first == kRoot || rows_[r].arrival < rows_[first].arrival) first = r;
    }
    for (const NodeId node : spread.sources) sources_[node.index()] = false;
    for (std::uint32_t r = begin; r < end; ++r) {
        rows_[r].first = reached_[graph.hop(rows_[r].transfer.hop).to.index()] == r;
    }
}

std::uint32_t TimedTrees::taken(NodeId node) {
    std::size_t best = passing_.size();
    for (std::size_t i = 0; i < passing_.size(); ++i) {
        const Row& row = rows_[passing_[i]];
        if (problem_.graph.hop(row.transfer.hop).to != node) continue;
        if (best == passing_.size() || row.arrival < rows_[passing_[best]].arrival) best = i;
    }
    const std::uint32_t row = passing_[best];
    passing_.erase(passing_.begin() + static_cast<std::ptrdiff_t>(best));
    return row;
}

std::vector<std::vector<Transfer>> TimedTrees::cut(Ticks deadline) {
    std::vector<std::vector<Transfer>> rest(problem_.spreads.size());
    std::vector<bool> in_time(rows_.size()), serves(rows_.size());
    for (std::size_t i = 0; i < problem_.spreads.size(); ++i) {
        for (const NodeId target : problem_.spreads[i].targets) {
            wanted_[target.index()] = static_cast<std::uint32_t>(i) + 1;
        }
        for (std::uint32_t r = begin_[i]; r < begin_[i + 1]; ++r) {
            const Row& row = rows_[r];
            in_time[r] = row.arrival <= deadline && (row.parent == kRoot || in_time[row.parent]);
        }
        for (std::uint32_t r = begin_[i + 1]; r-- > begin_[i];) {
            const Row& row = rows_[r];
            const NodeId to = problem_.graph.hop(row.transfer.hop).to;
            if (in_time[r] && row.first && wanted_[to.index()] == i + 1) serves[r] = true;
            if (serves[r] && row.parent != kRoot) serves[row.parent] = true;
        }
        for (std::uint32_t r = begin_[i]; r < begin_[i + 1]; ++r) {
            if (serves[r]) rest[i].push_back(rows_[r].transfer);
        }
    }
    return rest;
}

std::vector<Transfer> joined(const std::vector<std::vector<Transfer>>& trees) {
    std::vector<Transfer> all;
    for (const auto& tree : trees) all.insert(all.end(), tree.begin(), tree.end());
    return all;
}

/// The trees cut at the deadline and grown again; none if that fails.
std::optional<SpreadSolution> within(const SpreadProblem& problem, TimedTrees& trees, Ticks deadline,
                                     Rng& rng, const Stop& stop) {
    TimedForest forest{TimedGrowth(problem.graph, problem.calendar, rng), trees.cut(deadline)};
    for (const auto& tree : forest.trees) forest.growth.book(tree);
    std::vector<std::uint32_t> order(problem.spreads.size());
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(order);
    std::vector<std::uint32_t> incomplete;
    const std::size_t most =
        problem.graph.is_direct() ? order.size() / problem.options.exchange_trees + 1 : 0;
    std::vector<Transfer> added;
    for (const std::uint32_t i : order) {
        auto& tree = forest.trees[i];
        added.clear();
        if (!forest.growth.grow(problem.spreads[i], tree, deadline, stop, added)) incomplete.push_back(i);
        if (incomplete.size() > most) return std::nullopt;
        tree.insert(tree.end(), added.begin(), added.end());
    }
    if (!incomplete.empty()) {
        TreeExchange exchange(problem, forest, deadline, rng, stop);
        for (const std::uint32_t i : incomplete) {
            if (!exchange.complete(i)) return std::nullopt;
        }
        // A tree that lost a slot may have relays left that serve no target; in a reduction they would have
        // nothing to add.
        forest.trees = TimedTrees(problem, joined(forest.trees)).cut(deadline);
    }
    SpreadSolution solution{joined(forest.trees), Ticks(0)};
    for (const auto& [hop, chunk, start] : solution.transfers) {
        solution.makespan = std::max(solution.makespan, start + problem.graph.transit(hop, chunk));
    }
    return solution;
}

}  // namespace

SpreadSolution trimmed(const SpreadProblem& problem, SpreadSolution solution, Rng& rng, const Stop& stop) {
    const auto resolution = static_cast<std::int64_t>(problem.options.trim_resolution);
    Ticks low = std::max(problem.target - Ticks(1), Ticks(solution.makespan.count() / 2));
    const Ticks least = low;
    std::optional<TimedTrees> trees;
    for (bool again = false; !stop.requested();) {
        const Ticks step = std::max(Ticks(1), Ticks(solution.makespan.count() / resolution));
        Ticks deadline = low + Ticks((solution.makespan - low).count() / 2);
        if (low + step >= solution.makespan) {
            // A deadline that failed for longer trees may succeed for shorter ones.
            deadline = solution.makespan - step;
            if (!again || deadline <= least) break;
        }
        if (!trees) trees.emplace(problem, solution.transfers);
        auto shorter = within(problem, *trees, deadline, rng, stop);
        again = shorter.has_value();
        if (shorter) {
            solution = *std::move(shorter);
            trees.reset();
        } else {
            low = deadline;
        }
    }
    return solution;
}

}  // namespace tutti::heuristics
