// Event-driven matching of chunks to free links, in continuous integer time.
//
// Each node has two sets of chunks: those it `has`, and those it has `claimed`, which are there, in flight to
// it, or not wanted. A link u -> v may carry any chunk of has[u] minus claimed[v]; that set grows only
// by arrivals at u and shrinks only by claims, so nothing is sent twice. Links that become free or useful at
// one tick are served fastest first, otherwise in random order. Each takes
//
//  - a chunk that the fewest of v's out-neighbours have claimed (local rarity: v can then forward it),
//  - among those, where latency matters, one with the longest remaining path (Heights),
//  - else any. Index order instead of random loses 25-60 %.
//
// Where some links are slower than others (ClusterLevel), a second copy of a chunk over a slow link into a
// cluster is wasted if the links into the cluster are the bottleneck: there it carries only chunks that no
// member has claimed.
// Where the nodes' own links are the bottleneck the second copy is no loss, and forbidding it costs 10-20 %.
// So the rule applies while the links into the cluster are tight: while now + missing chunks * period >=
// tightness * target.
//
// While the rule applies a slow link also prefers chunks that make no detour (ClusterDetours), and of those
// the ones that the fewest neighbouring clusters have: local rarity one level up. At the end of a run slow
// links take chunks that fast ones would deliver sooner; a deadline forbids it (flood_search tries several).
//
// All sets are bit rows over the chunks; rarity is counted for 256 chunks at a time (flood_rarest). More than
// 1024 chunks are divided into windows of 512; all links that are served at one tick first search the same
// random window, so that it stays in the cache, and others only if it has nothing for them. An event costs
// O(1): see EventQueue.
//
// Tried and dropped: oldest or newest first, farthest source first, exact
// counters of global rarity (cache misses).

#include "heuristics/flood/flood_matcher.hpp"

#include "heuristics/flood/flood_run.hpp"

#include <algorithm>

namespace tutti::heuristics {

FloodMatcher::FloodMatcher(const SpreadProblem& problem)
    : problem_(problem), network_(problem), least_(problem.target) {
    if (problem.spreads.empty()) return;
    levels_ = cluster_levels(network_);
    least_ = std::max(least_, least_by_ingress());
}

/// When the busiest node could have all its chunks if its links were never idle.
Ticks FloodMatcher::least_by_ingress() const {
    std::vector<std::int64_t> wanted(network_.nodes(), 0);
    for (const Spread& spread : problem_.spreads) {
        for (const NodeId target : spread.targets) ++wanted[target.index()];
        for (const NodeId source : spread.sources) --wanted[source.index()];
    }
    double most = 0;
    for (std::size_t n = 0; n < network_.nodes(); ++n) {
        double rate = 0;
        for (const HopEnd& in : network_.in(n)) {
            rate += 1.0 / static_cast<double>(network_.times(0, in.hop.index()).busy.count());
        }
        if (rate > 0) most = std::max(most, static_cast<double>(wanted[n]) / rate);
    }
    return problem_.calendar.horizon() + Ticks(static_cast<std::int64_t>(most));
}

std::vector<FloodOptions> FloodMatcher::variants() const {
    if (!is_supported()) return {};
    std::vector<FloodOptions> list;
    const bool has_levels = !levels_.empty();
    if (has_levels) {
        list.push_back({.tightness = 0.85, .levels = 1});
        list.push_back({.tightness = 0, .levels = 1});
    }
    list.push_back({.levels = 0});
    // Heights take nodes^2 words, and too much time on large instances.
    if (network_.nodes() <= problem_.options.matching_height_nodes) {
        if (has_levels) list.push_back({.tightness = 0, .levels = 1, .by_height = true});
        list.push_back({.levels = 0, .by_height = true});
    }
    if (levels_.size() > 1) {
        list.push_back({.tightness = 0, .levels = levels_.size()});
        list.push_back({.tightness = 0.98, .levels = levels_.size()});
    }
    return list;
}

std::optional<SpreadSolution> FloodMatcher::run(const FloodOptions& options, Rng& rng, const Stop& stop) {
    if (!is_supported() || stop.requested()) return std::nullopt;
    if (problem_.spreads.empty()) return SpreadSolution{};
    if (options.by_height && heights_ == nullptr) {
        heights_ = std::make_unique<Heights>(network_, problem_.spreads, stop);
    }
    for (std::size_t l = detours_.size(); l < std::min(options.levels, levels_.size()); ++l) {
        detours_.emplace_back(network_, levels_[l], problem_.spreads);
    }
    return FloodRun({problem_, network_, levels_, detours_, heights_.get(), options, least_}, rng, stop)
        .run();
}

std::optional<SpreadSolution> flood(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    if (!problem.graph.is_direct()) return std::nullopt;
    FloodMatcher matcher(problem);
    return matcher.run(matcher.variants().front(), rng, stop);
}

}  // namespace tutti::heuristics
