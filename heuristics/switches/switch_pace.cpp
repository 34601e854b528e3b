#include "heuristics/switches/switch_pace.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

/// A cut is tight if its load takes at least this share of the expected makespan.
constexpr double kTight = 0.95;
/// Far pulls come first if they alone would take this share of the remaining time.
constexpr double kFarFirst = 0.3;

}  // namespace

SwitchPace::SwitchPace(const SpreadProblem& problem, const SwitchClusters& clusters, const SwitchPaths& paths,
                       const SwitchHoldings& holdings, const SwitchPorts& ports, Ticks begin)
    : clusters_(clusters), holdings_(holdings), begin_(begin) {
    const std::size_t nodes = problem.graph.nodes();
    std::vector<double> rate(nodes, 0.0);
    std::vector<std::size_t> lacks(nodes, 0);
    for (std::uint32_t p = 0; p < ports.size(); ++p) {
        rate[paths.ports()[p].holder.index()] += 1.0 / static_cast<double>(ports.busy(p).count());
    }
    for (const Spread& spread : problem.spreads) {
        for (const NodeId node : spread.targets) ++lacks[node.index()];
    }
    for (std::size_t n = 0; n < nodes; ++n) {
        if (holdings.is_target(NodeId(n))) total_rate_ += rate[n];
        if (rate[n] > 0) expected_ = std::max(expected_, static_cast<double>(lacks[n]) / rate[n]);
    }
    for (std::size_t l = 0; l < clusters.levels(); ++l) {
        for (std::uint32_t k = 0; k < clusters.clusters(l); ++k) {
            if (clusters.rate(l, k) > 0) expected_ = std::max(expected_, time_to_fill(l, k));
        }
    }
}

bool SwitchPace::is_tight(std::size_t level, NodeId node, Ticks now) const {
    return elapsed(now) + time_to_fill(level, clusters_.cluster(level, node)) >= kTight * expected_;
}

bool SwitchPace::is_far_first(std::size_t level, NodeId node, Ticks now) const {
    const double left =
        std::max(expected_ - elapsed(now), static_cast<double>(holdings_.missing()) / total_rate_);
    return time_to_fill(level, clusters_.cluster(level, node)) >= kFarFirst * left;
}

}  // namespace tutti::heuristics
