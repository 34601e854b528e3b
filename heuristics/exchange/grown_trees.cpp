// Trees for networks that fit no textbook: uneven links, failures, groups anywhere, relays.
//
// A tree is grown from its root by a search that is half Prim's and half Dijkstra's (Alpert, Hu, Huang,
// Kahng 1993): a node joins where the price of its edge plus a share of its time from the root is least. The
// price of a message grows steeply with the load of its links, so the trees of many chunks avoid each other.
// Both directions of an edge are priced together, as both will be used. A node that is no member joins only
// as a relay on the path to one.
//
// The plan is then improved by local search: a few trees are taken out, mostly of chunks that end last, grown
// again from other roots and with other weights, and all times are made anew. A change that does not make the
// schedule longer stays. Some moves change only the order of chunks.

#include "heuristics/exchange/grown_trees.hpp"

#include "heuristics/exchange/annealed_trees.hpp"
#include "heuristics/exchange/tree_exchanges.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr double kFar = std::numeric_limits<double>::max();
constexpr double kToll = 0.02;  ///< the price of a tick on an empty link
constexpr std::array kTies{SumTreeTies::Shift, SumTreeTies::Chunk, SumTreeTies::Opposed};
constexpr std::uint64_t kGrownPasses = 3;
constexpr unsigned kJustifications = 3;
constexpr std::uint64_t kQuickWork = std::uint64_t{1} << 17;  ///< messages of all tries, without a time limit
constexpr std::uint64_t kQuickTries = 300;
constexpr std::uint64_t kQuickAnnealing = std::uint64_t{1} << 21;  ///< messages of all changes, likewise

/// A number in [0, 1).
double share_of(Rng& rng) { return static_cast<double>(rng.below(1U << 20)) / static_cast<double>(1U << 20); }

}  // namespace

TreeGrower::TreeGrower(const MessageGraph& graph, Rng rng)
    : graph_(graph),
      rng_(rng),
      load_(graph.instance().topology().links().size()),
      weight_(load_.size(), kToll) {}

void TreeGrower::count(const SumTree& tree, int sign) {
    for (const auto& [a, b] : tree.edges) {
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
            // Equally fast hops share the load.
            const auto hops = graph_.between(from, to);
            if (hops.empty()) continue;
            const Ticks time = graph_.transit(hops.front(), tree.chunk);
            const auto equal = std::ranges::count_if(
                hops, [&](HopId hop) { return graph_.transit(hop, tree.chunk) == time; });
            for (const HopId hop : hops) {
                if (graph_.transit(hop, tree.chunk) != time) continue;
                graph_.hops().leg_times(hop, tree.chunk, legs_);
                for (const LegTime& leg : legs_)
                    load_[leg.link.index()] +=
                        sign * static_cast<double>(leg.busy.count()) / static_cast<double>(equal);
            }
        }
    }
}

void TreeGrower::set_weights(const GrowthStyle& style) {
    double most = 1;
    for (const double load : load_) most = std::max(most, load);
    for (std::size_t link = 0; link < load_.size(); ++link) {
        double weight = load_[link] / most;
        for (int i = 0; i < style.steepness; ++i) weight *= weight;
        weight_[link] = kToll + weight;
    }
}

double TreeGrower::price(NodeId from, NodeId to, ChunkId chunk, const GrowthStyle& style) {
    double best = kFar;
    for (const HopId hop : graph_.between(from, to)) {
        graph_.hops().leg_times(hop, chunk, legs_);
        double sum = style.depth * 0.5 * static_cast<double>(graph_.transit(hop, chunk).count());
        for (const LegTime& leg : legs_)
            sum += weight_[leg.link.index()] * static_cast<double>(leg.busy.count());
        best = std::min(best, sum);
    }
    return best;
}

SumTree TreeGrower::grow(ChunkId chunk, std::span<const NodeId> members, NodeId root,
                         const GrowthStyle& style) {
    const Instance& instance = graph_.instance();
    const CollectiveId collective = instance.demand(chunk).collective;
    const std::size_t npus = instance.topology().npus();
    set_weights(style);
    std::vector<double> key(npus, kFar);
    std::vector<NodeId> via(npus);
    std::vector<bool> inside(npus), wanted(npus);
    std::size_t left = 0;
    for (const NodeId member : members) {
        if (member == root) continue;
        wanted[member.index()] = true;
        ++left;
    }
    std::vector<double> depth(npus);
    using Entry = std::tuple<double, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    SumTree tree{chunk, {}};
    const auto join = [&](NodeId node) {
        inside[node.index()] = true;
        key[node.index()] = style.depth * depth[node.index()];
        open.emplace(key[node.index()], node);
        if (wanted[node.index()]) {
            wanted[node.index()] = false;
            --left;
        }
    };
    join(root);
    while (!open.empty() && left > 0) {
        const auto [cost, node] = open.top();
        open.pop();
        if (cost > key[node.index()]) continue;
        if (wanted[node.index()]) {
            // The path from the tree to it joins the tree, from the tree on.
            std::vector<NodeId> path;
            for (NodeId at = node; !inside[at.index()]; at = via[at.index()]) path.push_back(at);
            for (auto at = path.rbegin(); at != path.rend(); ++at) {
                const NodeId before = via[at->index()];
                tree.edges.emplace_back(before, *at);
                depth[at->index()] =
                    depth[before.index()] + static_cast<double>(graph_.time(before, *at, chunk).count());
                join(*at);
            }
            continue;
        }
        for (const NodeId next : graph_.next(node)) {
            if (inside[next.index()] || !instance.may_carry(next, collective) || !graph_.joins(next, node))
                continue;
            double edge = price(node, next, chunk, style) + price(next, node, chunk, style);
            if (style.noise > 0) edge += edge * style.noise * share_of(rng_);
            if (cost + edge >= key[next.index()]) continue;
            key[next.index()] = cost + edge;
            via[next.index()] = node;
            open.emplace(key[next.index()], next);
        }
    }
    if (left > 0) tree.edges.clear();
    return tree;
}

namespace {

/// A plan with its times.
struct GrownPlan {
    std::vector<SumTree> trees;
    SumTreeOrder order = {};
    std::vector<Move> moves = {};
    std::vector<Ticks> ends = {};  ///< by tree: its last arrival
    Ticks makespan = Ticks::max();
    Ticks sum = {};  ///< of the ends: a plan with fewer late chunks is nearer to a shorter one
    [[nodiscard]] auto quality() const { return std::tuple(makespan, sum); }
};

class GrowthSearch {
  public:
    GrowthSearch(const Exchanges& exchanges, Ticks target, std::uint64_t seed, const Stop& stop)
        : exchanges_(exchanges),
          graph_(exchanges.graph()),
          target_(target),
          stop_(stop),
          rng_(seed),
          grower_(graph_, rng_.split()),
          place_(exchanges.instance().chunks()) {
        for (std::size_t s = 0; s < exchanges.sets().size(); ++s) {
            for (std::size_t i = 0; i < exchanges.sets()[s].chunks.size(); ++i) {
                place_[exchanges.sets()[s].chunks[i].index()] = static_cast<std::uint32_t>(set_.size());
                set_.push_back(s);
            }
        }
        for (std::size_t n = 0; n < exchanges.instance().topology().npus(); ++n) npus_.emplace_back(n);
    }

    std::optional<Schedule> run(std::uint64_t tries) {
        for (const TreeMaker& maker : textbook_trees(exchanges_)) {
            if (is_over() || tries == 0) break;
            --tries;
            consider({trees_of(exchanges_, maker), {}});
        }
        for (const GrowthStyle style : {GrowthStyle{0.5, 2, 0}, {0.1, 3, 0}, {2, 2, 0}, {0.02, 3, 0}}) {
            if (is_over() || tries == 0) break;
            --tries;
            grow_all(style);
        }
        if (best_.moves.empty()) return std::nullopt;
        for (const SumTree& tree : best_.trees) grower_.add(tree);
        vary_order();
        for (; tries > 0 && !is_over(); --tries) change_some();
        return schedule_of(exchanges_.instance(), best_.moves);
    }

  private:
    [[nodiscard]] bool is_over() const {
        return stop_.requested() || (!best_.moves.empty() && best_.makespan <= target_);
    }

    /// Times for the plan. False: it has none.
    bool set_times(GrownPlan& plan) {
        auto moves = schedule_sum_trees(graph_, plan.trees, plan.order, stop_);
        if (!moves) return false;
        plan.moves = std::move(*moves);
        plan.ends.assign(plan.trees.size(), Ticks(0));
        plan.makespan = plan.sum = Ticks(0);
        for (const Move& move : plan.moves) {
            Ticks& end = plan.ends[place_[move.transfer.chunk.index()]];
            end = std::max(end, move.transfer.start + graph_.transit(move.transfer.hop, move.transfer.chunk));
        }
        for (const Ticks end : plan.ends) {
            plan.makespan = std::max(plan.makespan, end);
            plan.sum += end;
        }
        return true;
    }
    bool consider(GrownPlan plan) {
        plan.order.justifications = 0;
        if (!set_times(plan)) return false;
        // Justification gains some percent where it gains anything.
        const bool near =
            best_.moves.empty() || plan.makespan - best_.makespan <= Ticks(best_.makespan.count() / 16);
        if (near && plan.makespan > target_) {
            plan.order.justifications = kJustifications;
            if (!set_times(plan)) return false;
        }
        if (plan.quality() > best_.quality()) return false;
        best_ = std::move(plan);
        return true;
    }

    /// A plan of grown trees: all are grown, then each again, as the others are now.
    void grow_all(const GrowthStyle& style) {
        std::vector<SumTree> trees(set_.size());
        TreeGrower grower(graph_, rng_.split());
        for (std::uint64_t pass = 0; pass < kGrownPasses; ++pass) {
            std::size_t t = 0;
            for (const Exchanges::Set& set : exchanges_.sets()) {
                for (std::size_t i = 0; i < set.chunks.size(); ++i, ++t) {
                    if (stop_.requested()) return;
                    grower.remove(trees[t]);
                    trees[t] = grower.grow(set.chunks[i], set.members, set.roots[i], style);
                    grower.add(trees[t]);
                }
            }
            consider({trees, {}});
        }
    }

    /// Other orders of the chunks for the best trees.
    void vary_order() {
        for (const SumTreeTies ties : kTies) {
            for (const bool batched : {true, false}) {
                if (is_over()) return;
                GrownPlan plan{best_.trees, {}};
                plan.order.ties = ties;
                if (batched) plan.order.batches = batches_of(exchanges_);
                consider(std::move(plan));
            }
        }
    }

    /// One of the chunks that end last, or any.
    std::size_t pick() {
        const std::size_t any = rng_.below(best_.trees.size());
        if (rng_.below(2) == 0) return any;
        for (std::size_t i = 0; i < best_.trees.size(); ++i) {
            const std::size_t t = (any + i) % best_.trees.size();
            if (best_.ends[t] == best_.makespan) return t;
        }
        return any;
    }

    void change_some() {
        if (rng_.below(8) == 0) return change_order();
        GrownPlan plan{best_.trees, best_.order};
        const std::uint64_t count = 1 + rng_.below(3);
        static constexpr double kDepths[] = {0.02, 0.1, 0.3, 1, 3};
        std::vector<std::size_t> changed;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::size_t t = pick();
            if (std::ranges::find(changed, t) != changed.end() || plan.trees[t].edges.empty()) continue;
            changed.push_back(t);
            grower_.remove(plan.trees[t]);
        }
        for (const std::size_t t : changed) {
            const auto& members = exchanges_.sets()[set_[t]].members;
            const GrowthStyle style{kDepths[rng_.below(5)], 1 + static_cast<int>(rng_.below(3)),
                                    rng_.below(2) == 0 ? 0.3 : 1.5};
            const bool centre = rng_.below(8) == 0;
            const auto& roots = centre ? npus_ : members;
            const NodeId root = roots[rng_.below(roots.size())];
            const bool may = exchanges_.instance().may_carry(
                root, exchanges_.instance().demand(plan.trees[t].chunk).collective);
            SumTree grown = grower_.grow(plan.trees[t].chunk, members, may ? root : members.front(), style);
            if (!grown.edges.empty()) plan.trees[t] = std::move(grown);
            grower_.add(plan.trees[t]);
        }
        std::vector<SumTree> before, after;
        for (const std::size_t t : changed) {
            before.push_back(best_.trees[t]);
            after.push_back(plan.trees[t]);
        }
        if (consider(std::move(plan))) return;
        for (const SumTree& tree : after) grower_.remove(tree);
        for (const SumTree& tree : before) grower_.add(tree);
    }

    void change_order() {
        GrownPlan plan{best_.trees, best_.order};
        if (rng_.below(2) == 0) {
            plan.order.ties = kTies[rng_.below(kTies.size())];
            consider(std::move(plan));
            return;
        }
        if (plan.order.batches.empty()) plan.order.batches.assign(plan.trees.size(), 1);
        for (std::uint64_t i = 0; i < 1 + plan.trees.size() / 8; ++i)
            plan.order.batches[rng_.below(plan.trees.size())] = static_cast<std::uint32_t>(rng_.below(3));
        consider(std::move(plan));
    }

    const Exchanges& exchanges_;
    const MessageGraph& graph_;
    const Ticks target_;
    const Stop stop_;
    Rng rng_;
    TreeGrower grower_;
    std::vector<std::uint32_t> place_;  ///< by chunk: its tree
    std::vector<std::size_t> set_;      ///< by tree
    std::vector<NodeId> npus_;
    GrownPlan best_;
};

}  // namespace

std::optional<Schedule> grow_exchange(const Exchanges& exchanges, Ticks target, std::uint64_t seed,
                                      std::uint64_t tries, const Stop& stop) {
    return GrowthSearch(exchanges, target, seed, stop).run(tries);
}

std::optional<Schedule> grown_trees(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    const Stop& stop = turn.all;
    const std::uint64_t tries = kQuickWork / std::max<std::size_t>(exchanges.tree_messages(), 1);
    auto grown = grow_exchange(exchanges, target, 1, std::clamp<std::uint64_t>(tries, 1, kQuickTries), stop);
    if (stop.requested() || (grown && grown->makespan <= target)) return grown;
    auto annealed = anneal_exchange(exchanges, target, 1, kQuickAnnealing, stop);
    return !grown || (annealed && annealed->makespan < grown->makespan) ? annealed : grown;
}

}  // namespace tutti::heuristics
