// Insertion into the time-expanded network.
//
// For each chunk, a shortest-path search (Dijkstra) over arrival times: a hop from a node reached at t starts
// in the first gap of its links at or after t. When the search settles a target, the path to it is booked,
// and the nodes on it become sources of the tree. What the path booked can delay hops that the search has
// already weighed: always when a switch is on the way that may not branch, because the next path needs a copy
// of its own over the same link. So the search starts again from the grown tree as soon as a path turns out
// to be later than its label. On networks of NPUs alone that never happens: a chunk reaches each node once
// and so uses each link once.
//
// Chunks are taken in random order within classes of falling distance to the farthest target: long ways
// first, while there are gaps to choose from; random, because any fixed order loads the same links first
// (a prototype lost 25-60 %).
//
// Worst case O(chunks * targets * (hops + nodes) log nodes) with switches, O(chunks * (hops + nodes) log
// nodes) without, times the gaps looked at.

#include "heuristics/tree_insertion.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace tutti::heuristics {
namespace {

class TreeGrower {
  public:
    TreeGrower(const SpreadProblem& problem, Rng& rng, const Stop& stop)
        : graph_(problem.graph),
          calendar_(problem.calendar),
          rng_(rng),
          stop_(stop),
          labels_(graph_.nodes()),
          in_tree_(graph_.nodes(), 0),
          wanted_(graph_.nodes(), 0) {}

    /// False if stopped or a target cannot be reached.
    bool grow(const Spread& spread) {
        ++tree_;
        tree_nodes_.clear();
        collective_ = graph_.instance().demand(spread.chunk).collective;
        for (const NodeId source : spread.sources) join(source, spread.ready);
        std::size_t missing = 0;
        for (const NodeId target : spread.targets) {
            if (in_tree_[target.index()] == tree_ || wanted_[target.index()] == tree_) continue;
            wanted_[target.index()] = tree_;
            ++missing;
        }
        while (missing > 0) {
            if (stop_.requested()) return false;
            const std::size_t reached = search(spread.chunk, missing);
            if (reached == 0) return false;
            missing -= reached;
        }
        return true;
    }

    [[nodiscard]] SpreadSolution take() && { return std::move(solution_); }

  private:
    struct Label {
        std::uint64_t search = 0;
        Ticks arrival;
        HopId by;
        bool settled = false;
    };
    struct Entry {
        Ticks arrival;
        std::uint64_t lot;  ///< among equal arrivals the order is drawn, so that equal ways share the load
        NodeId node;
        bool operator>(const Entry& other) const {
            return arrival != other.arrival ? arrival > other.arrival : lot > other.lot;
        }
    };

    void join(NodeId node, Ticks arrival) {
        in_tree_[node.index()] = tree_;
        tree_nodes_.push_back({arrival, 0, node});
    }

    /// Searches from the tree and books paths to targets until a label proves stale. Returns how many were
    /// reached.
    std::size_t search(ChunkId chunk, std::size_t missing) {
        ++search_;
        queue_ = {};
        for (const Entry& entry : tree_nodes_) reach(entry.node, entry.arrival, HopId{});
        std::size_t reached = 0;
        while (!queue_.empty()) {
            const auto [arrival, lot, node] = queue_.top();
            queue_.pop();
            Label& label = labels_[node.index()];
            if (label.settled || arrival != label.arrival) continue;
            label.settled = true;
            if (wanted_[node.index()] == tree_ && in_tree_[node.index()] != tree_) {
                const Ticks booked = book_path(chunk, node);
                ++reached;
                if (reached == missing || booked != arrival || stale_) return reached;
            }
            for (const HopId id : graph_.out(node)) {
                const NodeId to = graph_.hop(id).to;
                if (!graph_.instance().may_carry(to, collective_)) continue;
                const Label& other = labels_[to.index()];
                if (other.search == search_ && (other.settled || other.arrival <= arrival)) continue;
                reach(to, calendar_.earliest(graph_, id, chunk, arrival) + graph_.transit(id, chunk), id);
            }
        }
        return reached;
    }

    void reach(NodeId node, Ticks arrival, HopId by) {
        Label& label = labels_[node.index()];
        if (label.search == search_ && label.arrival <= arrival) return;
        label = {search_, arrival, by, false};
        queue_.push({arrival, rng_.next(), node});
    }

    /// Books the path from the tree to the node; the true arrival, which is the label's unless this tree's
    /// earlier paths stood in the way.
    Ticks book_path(ChunkId chunk, NodeId node) {
        path_.clear();
        for (NodeId at = node; in_tree_[at.index()] != tree_; at = graph_.hop(path_.back()).from) {
            path_.push_back(labels_[at.index()].by);
        }
        std::ranges::reverse(path_);
        Ticks at = labels_[graph_.hop(path_.front()).from.index()].arrival;
        stale_ = false;
        for (const HopId id : path_) {
            const Ticks start = calendar_.earliest(graph_, id, chunk, at);
            calendar_.book(graph_, id, chunk, start);
            solution_.transfers.push_back({id, chunk, start});
            at = start + graph_.transit(id, chunk);
            const NodeId to = graph_.hop(id).to;
            if (graph_.branches(to)) {
                join(to, at);
                labels_[to.index()].arrival = at;
            } else {
                stale_ = true;  // the next path through this switch needs its own copy
            }
            if (graph_.hop(id).legs.size() > 1) stale_ = true;
        }
        solution_.makespan = std::max(solution_.makespan, at);
        return at;
    }

    const HopGraph& graph_;
    LinkCalendar calendar_;
    Rng& rng_;
    const Stop& stop_;
    CollectiveId collective_;
    std::vector<Label> labels_;
    std::vector<std::uint64_t> in_tree_, wanted_;  ///< the number of the tree for which it holds
    std::vector<Entry> tree_nodes_;
    std::uint64_t tree_ = 0;
    std::uint64_t search_ = 0;
    bool stale_ = false;
    std::vector<HopId> path_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
    SpreadSolution solution_;
};

/// For each spread, the largest number of hops from the sources to a target, by breadth-first search. Spreads
/// with the same sources mostly follow each other, so one search serves them all.
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
                for (const HopId id : graph.out(queue[next])) {
                    const NodeId to = graph.hop(id).to;
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

    TreeGrower grower(problem, rng, stop);
    for (const std::size_t i : order) {
        if (!grower.grow(problem.spreads[i])) return std::nullopt;
    }
    return std::move(grower).take();
}

}  // namespace tutti::heuristics
