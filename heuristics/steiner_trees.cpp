// Steiner trees under prices.
//
// A chunk of a group must reach the members, over whoever lies between them: a Steiner tree. What counts is
// not the length of one tree but how full the fullest link becomes when the trees of all chunks of all groups
// share the network, and how deep they are. So every link has a price that grows exponentially with its load
// (link_prices), and each tree is grown at the prices that all others leave behind: a search from the whole
// tree (Dijkstra) runs to the cheapest target not yet reached, its path joins the tree, the search goes on.
// Nodes of the tree cost what their depth is worth, so that trees stay shallow. After a first pass, all trees
// are taken out and grown again, one by one, in random order, a few times over: the early ones could not know
// what the late ones would need.
//
// The base of the prices is what a full link would carry if all went well: the average load and a tenth, or
// the lower bound; but not so far below the fullest link that prices lose their meaning. With the fullest
// link itself as the base the load falls too slowly where the members' own links are not enough and others
// must help (one block of 4x4x4 in an 8x8x8 torus, 8 chunks: 133 after four passes, instead of 86).
//
// Measured on an 8x8x8 torus, eight scattered groups of 64, all-gather: trees of 124 links (128 after one
// pass; a tree alone in the network has 112), fullest link 23, average 20.6. Steepness 8-20 and tolls of
// 0.05-0.3 all give 25 or 26 steps in the end; 30 and above make long trees (132). Without a toll for depth
// the trees become 50 deep.

#include "heuristics/steiner_trees.hpp"

#include "heuristics/priced_ways.hpp"
#include "heuristics/trim.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr PriceShape kShape{12, 0.2};
constexpr int kPasses = 4;
constexpr int kFewPasses = 2;                   ///< of large problems
constexpr std::uint64_t kManyHops = 1U << 23U;  ///< looked at in one pass
constexpr std::size_t kSamples = 16;
constexpr double kAboveAverage = 1.1;
constexpr double kBelowFullest = 0.7;

class TreePlanner {
  public:
    TreePlanner(const SpreadProblem& problem, Rng& rng, const Stop& stop)
        : problem_(problem),
          graph_(problem.graph),
          rng_(rng),
          stop_(stop),
          times_(problem),
          ways_(problem, times_, kShape),
          labels_(graph_.nodes()),
          in_tree_(graph_.nodes(), 0),
          wanted_(graph_.nodes(), 0),
          trees_(problem.spreads.size()) {}

    std::optional<TreePlan> plan() {
        std::vector<std::uint32_t> order(trees_.size());
        std::iota(order.begin(), order.end(), 0U);
        rng_.shuffle(order);
        if (!grow_samples(order)) return std::nullopt;
        const bool large = std::uint64_t{order.size()} * graph_.hops() > kManyHops;
        for (int pass = 0; pass < (large ? kFewPasses : kPasses); ++pass) {
            ways_.set_base(base(pass == 0 ? std::min(order.size(), kSamples) : order.size()));
            for (const std::uint32_t i : order) {
                if (stop_.requested()) return std::nullopt;
                remove(i);
                if (!grow(i)) return std::nullopt;
                add(i);
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
        std::uint32_t tree = 0;     ///< in whose search it was set
        std::uint32_t arc = kRoot;  ///< of a node of the tree: by which it is reached
        double cost = 0;            ///< of a node of the tree: the tolls from the source
        HopId by;
    };
    struct Entry {
        double cost;
        NodeId node;
        bool operator<(const Entry& other) const { return cost > other.cost; }
    };

    /// Some trees in an empty network, to learn how much there will be to carry.
    bool grow_samples(const std::vector<std::uint32_t>& order) {
        ways_.set_base(INT64_MAX / 2);
        for (std::size_t k = 0; k < std::min(order.size(), kSamples); ++k) {
            if (!grow(order[k])) return false;
            add(order[k]);
        }
        return true;
    }

    /// The load at which links shall count as full, when so many of the trees are in the network.
    [[nodiscard]] std::int64_t base(std::size_t planned) const {
        double sum = 0;
        double fullest = 0;
        for (const std::int64_t load : ways_.loads()) {
            sum += static_cast<double>(load);
            fullest = std::max(fullest, static_cast<double>(load));
        }
        const auto links = static_cast<double>(std::max<std::size_t>(ways_.loads().size(), 1));
        const double all =
            static_cast<double>(trees_.size()) / static_cast<double>(std::max<std::size_t>(planned, 1));
        double base = std::max(1.0, kAboveAverage * sum / links * all);
        base = std::max(base, static_cast<double>(times_.units(problem_.target)));
        if (planned == trees_.size()) base = std::max(base, kBelowFullest * fullest);
        return static_cast<std::int64_t>(base);
    }

    void add(std::uint32_t spread) {
        for (const Arc& arc : trees_[spread]) ways_.add(arc.hop, times_.kind(spread));
    }
    void remove(std::uint32_t spread) {
        for (const Arc& arc : trees_[spread]) ways_.remove(arc.hop, times_.kind(spread));
    }

    bool grow(std::uint32_t i) {
        const Spread& spread = problem_.spreads[i];
        const std::uint32_t kind = times_.kind(i);
        Tree& tree = trees_[i];
        tree.clear();
        queue_.clear();
        ++tree_;
        for (const NodeId source : spread.sources) join(source, kRoot, 0);
        std::size_t missing = 0;
        for (const NodeId target : spread.targets) {
            if (in_tree_[target.index()] == tree_ || wanted_[target.index()] == tree_) continue;
            wanted_[target.index()] = tree_;
            ++missing;
        }
        const CollectiveId collective = graph_.instance().demand(spread.chunk).collective;
        while (missing > 0 && !queue_.empty()) {
            const auto [cost, node] = queue_.front();
            std::pop_heap(queue_.begin(), queue_.end());
            queue_.pop_back();
            if (cost != labels_[node.index()].cost) continue;
            if (wanted_[node.index()] == tree_ && in_tree_[node.index()] != tree_) {
                join_path(tree, node, kind);
                --missing;
                continue;  // it was entered again, as part of the tree
            }
            leave(node, cost, kind, collective);
        }
        return missing == 0;
    }

    void leave(NodeId node, double cost, std::uint32_t kind, CollectiveId collective) {
        const Instance& instance = graph_.instance();
        const auto costs = ways_.costs(kind);
        const auto& ways = ways_.ways();
        const std::uint32_t end = ways_.end(node);
        for (std::uint32_t w = ways_.begin(node); w < end; ++w) {
            const NodeId to = ways[w].to;
            Label& label = labels_[to.index()];
            const double total = cost + costs[w];
            if (label.tree == tree_ && label.cost <= total) continue;
            if (in_tree_[to.index()] == tree_ || !instance.may_carry(to, collective)) continue;
            label = {tree_, kRoot, total, ways[w].hop};
            enter(to, total);
        }
    }

    void join(NodeId node, std::uint32_t arc, double depth) {
        in_tree_[node.index()] = tree_;
        labels_[node.index()] = {tree_, arc, depth, HopId{}};
        enter(node, depth);
    }
    void enter(NodeId node, double cost) {
        queue_.push_back({cost, node});
        std::push_heap(queue_.begin(), queue_.end());
    }

    void join_path(Tree& tree, NodeId target, std::uint32_t kind) {
        path_.clear();
        NodeId root = target;
        for (; in_tree_[root.index()] != tree_; root = graph_.hop(path_.back()).from) {
            path_.push_back(labels_[root.index()].by);
        }
        std::uint32_t parent = labels_[root.index()].arc;
        double depth = labels_[root.index()].cost;
        for (auto id = path_.rbegin(); id != path_.rend(); ++id) {
            tree.push_back({*id, parent});
            parent = static_cast<std::uint32_t>(tree.size() - 1);
            depth += ways_.toll(*id, kind);
            // A stop that does not branch stays outside: the next path over it needs a copy of its own.
            const NodeId to = graph_.hop(*id).to;
            if (graph_.branches(to)) join(to, parent, depth);
        }
    }

    [[nodiscard]] TreePlan collected() const {
        TreePlan plan;
        for (const Tree& tree : trees_) {
            const std::uint32_t first = plan.begin.back();
            for (const auto& [hop, parent] : tree) {
                plan.hops.push_back(hop);
                plan.parents.push_back(parent == kRoot ? kRoot : first + parent);
            }
            plan.begin.push_back(static_cast<std::uint32_t>(plan.hops.size()));
        }
        return plan;
    }

    const SpreadProblem& problem_;
    const HopGraph& graph_;
    Rng& rng_;
    const Stop& stop_;
    HopTimes times_;
    PricedWays ways_;
    std::vector<Label> labels_;
    std::vector<std::uint32_t> in_tree_, wanted_;  ///< the number of the tree for which it holds
    std::uint32_t tree_ = 0;
    std::vector<Entry> queue_;
    std::vector<HopId> path_;
    std::vector<Tree> trees_;
};

}  // namespace

std::optional<TreePlan> steiner_trees(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    return TreePlanner(problem, rng, stop).plan();
}

std::optional<SpreadSolution> plan_trees(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    const auto plan = steiner_trees(problem, rng, stop);
    if (!plan) return std::nullopt;
    auto solution = list_schedule(problem, *plan, {.seed = rng.next()}, stop);
    if (!solution) return std::nullopt;
    return trimmed(problem, *std::move(solution), rng, stop);
}

}  // namespace tutti::heuristics
