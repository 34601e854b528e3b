// Event-driven matching of chunks to free links, in continuous integer time.
//
// Each node has two sets of chunks: those it `has`, and those it has `claimed`, which are there, under way to
// it, or not wanted at all. A link u -> v may carry any chunk of has[u] minus claimed[v]; that set grows only
// by arrivals at u and shrinks only by claims, so nothing is sent twice. Links that become free or useful at
// one tick are served fastest first, otherwise in random order. Each takes
//
//  - a chunk that fewest of v's out-neighbours have claimed (local rarity: v can then pass it on),
//  - among those, where latency counts, one with the longest way to go (Heights),
//  - else any. Index order instead of random loses 25-60 %.
//
// Where some links are slower than others (ClusterLevel), what a slow link brings into a cluster twice is
// lost when the cluster's entrances are the bottleneck: there it brings only what no member has claimed.
// Where the nodes' own links are the bottleneck the second copy is no loss, and forbidding it costs 10-20 %.
// So the rule holds while the entrances are tight: while now + missing chunks * period >= tightness * target.
//
// All sets are bit rows over the chunks; rarity is counted for 256 chunks at a time (flood_rarest). Of more
// than 1024 chunks a link looks at a window of 1024 at random, and further only if that has nothing for it.
// An event costs O(1): see EventLanes.
//
// Tried and dropped: oldest or newest first, farthest source first, a guard that idles slow links near the
// end, exact counters of global rarity (cache misses).

#include "heuristics/flood_matcher.hpp"

#include "heuristics/flood_run.hpp"

namespace tutti::heuristics {
namespace {

/// Heights take nodes^2 words, and time that only small instances have.
constexpr std::size_t kMaxHeightNodes = 1024;

}  // namespace

FloodMatcher::FloodMatcher(const SpreadProblem& problem) : problem_(problem), network_(problem) {
    if (!problem.spreads.empty()) levels_ = cluster_levels(network_);
}

std::vector<FloodOptions> FloodMatcher::variants() const {
    if (!is_supported()) return {};
    std::vector<FloodOptions> list;
    const bool may_use_heights = network_.nodes() <= kMaxHeightNodes;
    for (const bool by_height : {false, true}) {
        if (by_height && !may_use_heights) continue;
        for (std::size_t levels = 1; levels <= levels_.size(); ++levels) {
            for (double t : {0., .85, .9, .98})
                list.push_back({.tightness = t, .levels = levels, .by_height = by_height});
        }
        list.push_back({.levels = 0, .by_height = by_height});
    }
    const auto n = list.size();
    if (problem_.target > Ticks(0))
        for (size_t i = 0; i < n; ++i) {
            list.push_back(list[i]);
            list.back().deadline = problem_.target;
        }
    return list;
}

std::optional<SpreadSolution> FloodMatcher::run(const FloodOptions& options, Rng& rng, const Stop& stop) {
    if (!is_supported() || stop.requested()) return std::nullopt;
    if (problem_.spreads.empty()) return SpreadSolution{};
    if (options.by_height && heights_ == nullptr) {
        heights_ = std::make_unique<Heights>(network_, problem_.spreads, stop);
    }
    for (std::size_t l = ways_.size(); l < std::min(options.levels, levels_.size()); ++l) {
        ways_.emplace_back(network_, levels_[l], problem_.spreads);
    }
    return FloodRun({problem_, network_, levels_, ways_, heights_.get(), options}, rng, stop).run();
}

std::optional<SpreadSolution> flood(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    if (!problem.graph.is_direct()) return std::nullopt;
    return FloodMatcher(problem).run({}, rng, stop);
}

}  // namespace tutti::heuristics
