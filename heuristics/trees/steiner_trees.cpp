// Steiner trees at prices.
//
// A chunk of a group must reach the members, possibly over other nodes: a Steiner tree. The objective is not
// the length of one tree but the load of the fullest link when the trees of all chunks of all groups share
// the network, and their depth. So every link has a price that grows exponentially with its load
// (link_prices), and each tree is grown at the prices that all others leave: a search from the whole tree
// (Dijkstra) runs to the cheapest target not yet reached, its path joins the tree, and the search continues.
// Nodes of the tree start with a cost for their depth, so that trees stay shallow. Where a path passes a
// switch that does not branch, the next one over the same links needs a copy of its own at a higher price:
// the search starts again. After a first pass, all trees are removed and grown again, one by one, in random
// order, a few times, because the early ones did not see the loads of the late ones.
//
// The base of the prices is the expected load of a full link: the average load plus a tenth, or the lower
// bound; but not so far below the fullest link that prices become useless. With the fullest link itself as
// the base the load falls too slowly where the members' own links do not suffice (one block of 4x4x4 in an
// 8x8x8 torus, 8 chunks: 133 after four passes, instead of 86).
//
// Measured on an 8x8x8 torus, eight scattered groups of 64, all-gather: trees of 124 links (128 after one
// pass; a tree alone in the network has 112), fullest link 23, average 20.6. Steepness 8-20 and penalties of
// 0.05-0.3 all give 25 or 26 steps in the end; 30 and above make long trees (132). Without a penalty for
// depth the trees become 50 deep.

#include "heuristics/trees/steiner_trees.hpp"

#include "heuristics/trees/hop_costs.hpp"
#include "heuristics/trees/trim.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr double kAboveAverage = 1.1;
constexpr double kBelowFullest = 0.7;

class TreePlanner {
  public:
    TreePlanner(const SpreadProblem& problem, Rng& rng, const Stop& stop, std::span<const Ticks> taken)
        : problem_(problem),
          graph_(problem.graph),
          rng_(rng),
          stop_(stop),
          times_(problem),
          costs_(problem, times_, {problem.options.steiner_steepness, problem.options.steiner_toll}),
          samples_(std::min<std::size_t>(problem.spreads.size(), problem.options.steiner_samples)),
          labels_(graph_.nodes()),
          in_tree_(graph_.nodes(), 0),
          wanted_(graph_.nodes(), 0),
          trees_(problem.spreads.size()) {
        for (std::size_t link = 0; link < taken.size(); ++link) {
            const std::int64_t load = times_.units(taken[link]);
            costs_.take(LinkId(link), load);
            taken_ += static_cast<double>(load);
        }
    }

    std::optional<TreePlan> plan() {
        std::vector<std::uint32_t> order(trees_.size());
        std::iota(order.begin(), order.end(), 0U);
        rng_.shuffle(order);
        if (!grow_samples(order)) return std::nullopt;
        const bool large = std::uint64_t{order.size()} * graph_.hops() > problem_.options.steiner_large;
        const std::uint64_t passes =
            large ? problem_.options.steiner_passes_large : problem_.options.steiner_passes;
        for (std::uint64_t pass = 0; pass < passes; ++pass) {
            costs_.set_base(base(pass == 0 ? samples_ : order.size()));
            for (const std::uint32_t i : order) {
                if (stop_.requested()) return std::nullopt;
                remove(i);
                if (!grow(i)) return std::nullopt;
            }
            rng_.shuffle(order);
        }
        return collected();
    }

  private:
    static constexpr std::uint32_t kRoot = TreePlan::kRoot;
    struct Arc {
        HopId hop;
        std::uint32_t parent;
    };
    using Tree = std::vector<Arc>;
    struct Label {
        std::uint64_t search = 0;   ///< in which it was set
        std::uint32_t arc = kRoot;  ///< of a node of the tree: by which it is reached
        double cost = 0;            ///< of a node of the tree: the penalties from the source
        HopId by;
    };
    struct Joined {
        NodeId node;
        std::uint32_t arc;  ///< by which it is reached
        double depth;       ///< the penalties from the source
    };
    struct Entry {
        double cost;
        NodeId node;
        bool operator<(const Entry& other) const { return cost > other.cost; }
    };

    /// Grows some trees in an empty network, to estimate the total load.
    bool grow_samples(const std::vector<std::uint32_t>& order) {
        costs_.set_base(INT64_MAX / 2);
        for (std::size_t k = 0; k < samples_; ++k) {
            if (!grow(order[k])) return false;
        }
        return true;
    }

    /// The load at which links count as full when that many of the trees are planned.
    [[nodiscard]] std::int64_t base(std::size_t planned) const {
        double sum = 0;
        double fullest = 0;
        for (const std::int64_t load : costs_.loads()) {
            sum += static_cast<double>(load);
            fullest = std::max(fullest, static_cast<double>(load));
        }
        const auto links = static_cast<double>(std::max<std::size_t>(costs_.loads().size(), 1));
        const double all =
            static_cast<double>(trees_.size()) / static_cast<double>(std::max<std::size_t>(planned, 1));
        double base = std::max(1.0, kAboveAverage * ((sum - taken_) * all + taken_) / links);
        base = std::max(base, static_cast<double>(times_.units(problem_.target)));
        if (planned == trees_.size()) base = std::max(base, kBelowFullest * fullest);
        return static_cast<std::int64_t>(base);
    }

    void remove(std::uint32_t spread) {
        for (const Arc& arc : trees_[spread]) costs_.remove(arc.hop, times_.kind(spread));
    }

    bool grow(std::uint32_t i) {
        const Spread& spread = problem_.spreads[i];
        trees_[i].clear();
        joined_.clear();
        ++tree_;
        for (const NodeId source : spread.sources) join(source, kRoot, 0);
        std::size_t missing = 0;
        for (const NodeId target : spread.targets) {
            if (in_tree_[target.index()] == tree_ || wanted_[target.index()] == tree_) continue;
            wanted_[target.index()] = tree_;
            ++missing;
        }
        while (missing > 0) {
            const std::size_t reached = search(i, missing);
            if (reached == 0) return false;
            missing -= reached;
        }
        return true;
    }

    /// Searches from the tree and joins paths to it until changed prices invalidate the labels. Returns how
    /// many targets were reached.
    std::size_t search(std::uint32_t i, std::size_t missing) {
        const std::uint32_t kind = times_.kind(i);
        const CollectiveId collective = graph_.instance().demand(problem_.spreads[i].chunk).collective;
        ++search_;
        queue_.clear();
        for (const Joined& joined : joined_) enter(joined);
        for (std::size_t reached = 0; !queue_.empty();) {
            const auto [cost, node] = queue_.front();
            std::pop_heap(queue_.begin(), queue_.end());
            queue_.pop_back();
            if (cost != labels_[node.index()].cost) continue;
            if (wanted_[node.index()] != tree_ || in_tree_[node.index()] == tree_) {
                leave(node, cost, kind, collective);
                continue;
            }
            const bool repriced = join_path(trees_[i], node, kind);
            if (++reached == missing || repriced) return reached;
        }
        return 0;
    }

    void leave(NodeId node, double cost, std::uint32_t kind, CollectiveId collective) {
        const Instance& instance = graph_.instance();
        const auto costs = costs_.costs(node, kind);
        const auto out = graph_.out(node);
        for (std::size_t k = 0; k < out.size(); ++k) {
            const NodeId to = out[k].node;
            Label& label = labels_[to.index()];
            const double total = cost + costs[k];
            if (label.search == search_ && label.cost <= total) continue;
            if (in_tree_[to.index()] == tree_ || !instance.may_carry(to, collective)) continue;
            label = {search_, kRoot, total, out[k].hop};
            push(total, to);
        }
    }

    void join(NodeId node, std::uint32_t arc, double depth) {
        in_tree_[node.index()] = tree_;
        joined_.push_back({node, arc, depth});
    }
    void enter(const Joined& joined) {
        labels_[joined.node.index()] = {search_, joined.arc, joined.depth, HopId{}};
        push(joined.depth, joined.node);
    }
    void push(double cost, NodeId node) {
        queue_.push_back({cost, node});
        std::push_heap(queue_.begin(), queue_.end());
    }

    /// Returns whether prices have changed that other paths of this tree may have to pay.
    bool join_path(Tree& tree, NodeId target, std::uint32_t kind) {
        path_.clear();
        NodeId root = target;
        for (; in_tree_[root.index()] != tree_; root = graph_.hop(path_.back()).from) {
            path_.push_back(labels_[root.index()].by);
        }
        std::uint32_t parent = labels_[root.index()].arc;
        double depth = labels_[root.index()].cost;
        bool repriced = false;
        for (auto id = path_.rbegin(); id != path_.rend(); ++id) {
            tree.push_back({*id, parent});
            costs_.add(*id, kind);
            parent = static_cast<std::uint32_t>(tree.size() - 1);
            depth += costs_.penalty(*id, kind);
            const Hop hop = graph_.hop(*id);
            if (graph_.branches(hop.to)) {
                join(hop.to, parent, depth);
                enter(joined_.back());
            } else {
                repriced = true;  // the next path over this switch needs a copy of its own
            }
            if (hop.legs.size() > 1) repriced = true;
        }
        return repriced;
    }

    /// The arcs of each tree in random order, parents first, so that equally urgent arcs do not leave every
    /// source in the same order.
    [[nodiscard]] TreePlan collected() {
        TreePlan plan;
        std::vector<std::uint32_t> lots, order, position;
        for (const Tree& tree : trees_) {
            lots.resize(tree.size());
            order.resize(tree.size());
            position.resize(tree.size());
            // A child's random key is larger than its parent's.
            for (std::size_t a = 0; a < tree.size(); ++a) {
                const auto lot = static_cast<std::uint32_t>(rng_.below(1U << 16U));
                lots[a] = lot + (tree[a].parent == kRoot ? 0 : lots[tree[a].parent] + 1);
                order[a] = static_cast<std::uint32_t>(a);
            }
            std::ranges::sort(order,
                              [&](auto a, auto b) { return std::pair(lots[a], a) < std::pair(lots[b], b); });
            const std::uint32_t first = plan.begin.back();
            for (const std::uint32_t a : order) {
                position[a] = static_cast<std::uint32_t>(plan.hops.size());
                plan.hops.push_back(tree[a].hop);
                plan.parents.push_back(tree[a].parent == kRoot ? kRoot : position[tree[a].parent]);
            }
            plan.begin.push_back(first + static_cast<std::uint32_t>(tree.size()));
        }
        return plan;
    }

    const SpreadProblem& problem_;
    const HopGraph& graph_;
    Rng& rng_;
    const Stop& stop_;
    HopTimes times_;
    HopCosts costs_;
    const std::size_t samples_;  ///< trees that are grown first
    std::vector<Label> labels_;
    std::vector<std::uint32_t> in_tree_, wanted_;  ///< the number of the tree for which it holds
    std::uint32_t tree_ = 0;
    std::uint64_t search_ = 0;
    std::vector<Joined> joined_;
    std::vector<Entry> queue_;
    std::vector<HopId> path_;
    std::vector<Tree> trees_;
    double taken_ = 0;  ///< of all links, by others
};

}  // namespace

std::optional<TreePlan> steiner_trees(const SpreadProblem& problem, Rng& rng, const Stop& stop,
                                      std::span<const Ticks> taken) {
    return TreePlanner(problem, rng, stop, taken).plan();
}

std::optional<SpreadSolution> plan_trees(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    const auto plan = steiner_trees(problem, rng, stop);
    if (!plan) return std::nullopt;
    auto solution = list_schedule(problem, *plan, {.seed = rng.next()}, stop);
    if (!solution) return std::nullopt;
    return trimmed(problem, *std::move(solution), rng, stop);
}

}  // namespace tutti::heuristics
