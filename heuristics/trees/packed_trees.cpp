// Broadcast along trees that share no link.
//
// A tree that has its links for itself carries chunk after chunk at the pace of its slowest link: n chunks
// take its depth and n - 1 times that pace. With k such trees each carries about n / k of the chunks. So the
// makespan is known before a schedule is made, and depends only on k and the depths. Edmonds ("Edge-disjoint
// branchings", 1973) proved that there are k trees wherever every cut has k links; how deep they must be is
// another question (NP-hard, as disjoint paths of bounded length are), and depth is what counts here.
//
// No two trees share a link exactly if every NPU gets its k trees over k different links. So all trees grow
// at once, in time, as if each were one chunk and each link could be used once: at every tick the trees that
// are offered to an NPU are matched to the links that offer them, as many as possible (augmenting paths, on a
// handful of links). The trees that have reached the fewest NPUs are matched first, equal ones in random
// order. An offer that is not taken at its tick is never needed later: in a maximum matching its link is used
// or its tree is there. Many random packings are made and the best is kept. More trees mean fewer chunks for
// each but less choice of links; so every k is tried that could still win, the largest first.
//
// Why not matching chunks to links one by one (flood)? It takes what is rare nearby, and a corner with two
// links that needs a new chunk over both of them at every tick gets one of them twice, or late. 16x16 mesh,
// alpha = beta = 1, 8 chunks from the centre: two trees of depth 16 give 35 ticks, which is the bound; the
// flood took 36, whatever the seed.

#include "heuristics/trees/packed_trees.hpp"

#include "heuristics/event_queue.hpp"
#include "heuristics/paths/hop_times.hpp"
#include "heuristics/paths/list_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

/// Grows trees that share no hop, at random.
class Packer {
  public:
    static constexpr std::uint32_t kNone = TreePlan::kRoot;
    struct Tree {
        std::vector<HopId> hops;
        std::vector<std::uint32_t> parents;  ///< positions in `hops`
        std::int64_t depth = 0;              ///< the last arrival of its first chunk
        std::int64_t pace = 0;               ///< the longest that a link is busy with a chunk
    };

    Packer(const SpreadProblem& problem, const HopTimes& times)
        : graph_(problem.graph),
          times_(times),
          sources_(problem.spreads.front().sources),
          offers_(graph_.nodes()) {}

    /// None: some NPU was left without a tree, or a tree is as deep as `limit`.
    std::optional<std::vector<Tree>> pack(std::size_t k, std::int64_t limit, Rng& rng) {
        trees_.assign(k, {});
        used_.assign(graph_.hops(), false);
        by_.assign(k * graph_.nodes(), kNone);
        has_.assign(k * graph_.nodes(), false);
        events_ = {};
        for (std::size_t tree = 0; tree < k; ++tree) {
            for (const NodeId source : sources_) has_[at(tree, source)] = true;
            for (const NodeId source : sources_) offer_on(tree, source, 0);
        }
        while (!events_.empty()) {
            events_.pop(batch_);
            if (batch_.front().time >= limit) return std::nullopt;
            rng.shuffle(batch_);
            serve(batch_.front().time);
        }
        const std::size_t all = graph_.nodes() - sources_.size();
        if (std::ranges::any_of(trees_, [&](const Tree& tree) { return tree.hops.size() < all; }))
            return std::nullopt;
        return std::move(trees_);
    }

  private:
    struct Offer {
        std::int64_t time;
        HopId hop;
        std::uint32_t tree;
    };

    [[nodiscard]] std::size_t at(std::size_t tree, NodeId node) const {
        return tree * graph_.nodes() + node.index();
    }

    /// The tree has reached the node: it may go on from there.
    void offer_on(std::size_t tree, NodeId node, std::int64_t now) {
        for (const HopEnd& end : graph_.out(node)) {
            if (used_[end.hop.index()] || has_[at(tree, end.node)]) continue;
            events_.push({now + times_.transit(end.hop, 0), end.hop, static_cast<std::uint32_t>(tree)});
        }
    }

    void serve(std::int64_t now) {
        for (const Offer& offer : batch_) {
            const NodeId to = graph_.to(offer.hop);
            if (used_[offer.hop.index()] || has_[at(offer.tree, to)]) continue;
            if (offers_[to.index()].empty()) asked_.push_back(to);
            offers_[to.index()].push_back(offer);
        }
        for (const NodeId node : asked_) {
            match(offers_[node.index()]);
            offers_[node.index()].clear();
            for (const Offer& taken : matched_) take(taken, now);
        }
        asked_.clear();
    }

    /// As many of the offers to one node as have different hops and different trees, into `matched_`.
    void match(const std::vector<Offer>& offers) {
        wanted_.clear();
        for (const Offer& offer : offers) {
            if (std::ranges::find(wanted_, offer.tree) == wanted_.end()) wanted_.push_back(offer.tree);
        }
        std::ranges::stable_sort(wanted_, {}, [&](std::uint32_t tree) { return trees_[tree].hops.size(); });
        matched_.clear();
        for (const std::uint32_t tree : wanted_) {
            tried_.clear();
            (void)augment(offers, tree);
        }
    }

    /// Finds the tree a hop, if need be by finding another one for a tree that was matched before.
    bool augment(const std::vector<Offer>& offers, std::uint32_t tree) {
        for (const Offer& offer : offers) {
            if (offer.tree != tree || std::ranges::find(tried_, offer.hop) != tried_.end()) continue;
            tried_.push_back(offer.hop);
            const auto holder = std::ranges::find(matched_, offer.hop, &Offer::hop);
            const auto place = holder - matched_.begin();
            if (holder == matched_.end()) {
                matched_.push_back(offer);
                return true;
            }
            if (augment(offers, holder->tree)) {
                // What the other tree found was put at the end.
                matched_[static_cast<std::size_t>(place)] = offer;
                return true;
            }
        }
        return false;
    }

    void take(const Offer& offer, std::int64_t now) {
        Tree& tree = trees_[offer.tree];
        const Hop hop = graph_.hop(offer.hop);
        used_[offer.hop.index()] = true;
        has_[at(offer.tree, hop.to)] = true;
        by_[at(offer.tree, hop.to)] = static_cast<std::uint32_t>(tree.hops.size());
        tree.parents.push_back(by_[at(offer.tree, hop.from)]);
        tree.hops.push_back(offer.hop);
        tree.depth = now;
        tree.pace = std::max(tree.pace, times_.busy(offer.hop, 0));
        offer_on(offer.tree, hop.to, now);
    }

    const HopGraph& graph_;
    const HopTimes& times_;
    const std::span<const NodeId> sources_;
    std::vector<Tree> trees_;
    std::vector<bool> used_;         ///< by hop
    std::vector<bool> has_;          ///< by tree and node
    std::vector<std::uint32_t> by_;  ///< by tree and node: the arc by which it was reached
    EventQueue<Offer> events_;
    std::vector<Offer> batch_, matched_;
    std::vector<std::vector<Offer>> offers_;  ///< by node, at this tick
    std::vector<NodeId> asked_;
    std::vector<std::uint32_t> wanted_;
    std::vector<HopId> tried_;
};

/// Which tree each chunk takes: the one on which it arrives first, after those before it.
struct Shares {
    std::vector<std::uint32_t> tree;  ///< by spread
    std::int64_t makespan = 0;        ///< if all are ready at 0
};

Shares shares_of(const std::vector<Packer::Tree>& trees, std::size_t chunks) {
    Shares shares;
    std::vector<std::int64_t> next;
    for (const Packer::Tree& tree : trees) next.push_back(tree.depth);
    for (std::size_t i = 0; i < chunks; ++i) {
        const auto first = static_cast<std::size_t>(std::ranges::min_element(next) - next.begin());
        shares.tree.push_back(static_cast<std::uint32_t>(first));
        shares.makespan = std::max(shares.makespan, next[first]);
        next[first] += trees[first].pace;
    }
    return shares;
}

TreePlan plan_of(const std::vector<Packer::Tree>& trees, const std::vector<std::uint32_t>& chosen) {
    TreePlan plan;
    for (const std::uint32_t t : chosen) {
        const auto first = static_cast<std::uint32_t>(plan.hops.size());
        plan.hops.insert(plan.hops.end(), trees[t].hops.begin(), trees[t].hops.end());
        for (const std::uint32_t parent : trees[t].parents)
            plan.parents.push_back(parent == TreePlan::kRoot ? parent : first + parent);
        plan.begin.push_back(static_cast<std::uint32_t>(plan.hops.size()));
    }
    return plan;
}

/// No more trees than chunks, than links into an NPU, or than links out of the sources.
std::size_t most_trees(const SpreadProblem& problem) {
    const HopGraph& graph = problem.graph;
    const auto& sources = problem.spreads.front().sources;
    std::size_t out = 0;
    for (const NodeId source : sources) out += graph.out(source).size();
    std::size_t most = std::min(problem.spreads.size(), out);
    for (std::size_t v = 0; v < graph.nodes(); ++v) {
        if (std::ranges::find(sources, NodeId(v)) == sources.end())
            most = std::min(most, graph.in(NodeId(v)).size());
    }
    return most;
}

/// The quickest link's time with a chunk, of all links.
std::int64_t least_pace(const HopGraph& graph, const HopTimes& times) {
    std::int64_t least = INT64_MAX;
    for (std::size_t h = 0; h < graph.hops(); ++h) least = std::min(least, times.busy(HopId(h), 0));
    return least;
}

}  // namespace

std::string why_no_packed_trees(const SpreadProblem& problem) {
    if (!problem.graph.is_direct()) return "there are switches";
    if (problem.spreads.size() < 2) return "one chunk takes one tree";
    const Spread& first = problem.spreads.front();
    for (const Spread& spread : problem.spreads) {
        if (!std::ranges::equal(spread.sources, first.sources)) return "the chunks have different holders";
        if (spread.targets.size() != problem.graph.nodes()) return "not every NPU wants every chunk";
    }
    if (HopTimes(problem).kinds() > 1) return "the chunks differ in size";
    return {};
}

std::optional<SpreadSolution> packed_trees(const SpreadProblem& problem, Rng& rng, const Stop& stop,
                                           std::size_t tries) {
    if (!why_no_packed_trees(problem).empty()) return std::nullopt;
    const HopTimes times(problem);
    const std::size_t chunks = problem.spreads.size();
    const std::int64_t pace = least_pace(problem.graph, times);
    Packer packer(problem, times);
    std::optional<SpreadSolution> best;
    std::int64_t least = INT64_MAX;  // of all packings so far
    std::uint64_t work = tries * chunks * problem.graph.nodes();
    while (work > 0) {
        const std::uint64_t before = work;
        for (std::size_t k = most_trees(problem); k > 0 && work > 0; --k) {
            if (stop.requested() || (best && best->makespan <= problem.target)) return best;
            // One of the trees carries that many chunks or more.
            const auto share = static_cast<std::int64_t>((chunks + k - 1) / k);
            const std::int64_t limit = least == INT64_MAX ? least : least - (share - 1) * pace;
            if (limit <= 0) break;
            work -= std::min<std::uint64_t>(work, k * problem.graph.hops());
            const auto trees = packer.pack(k, limit, rng);
            if (!trees) continue;
            const Shares shares = shares_of(*trees, chunks);
            if (shares.makespan >= least) continue;
            least = shares.makespan;
            auto solution = list_schedule(problem, plan_of(*trees, shares.tree), {}, stop);
            if (solution && (!best || solution->makespan < best->makespan)) best = std::move(solution);
        }
        if (work == before) break;  // no number of trees can win
    }
    return best;
}

}  // namespace tutti::heuristics
