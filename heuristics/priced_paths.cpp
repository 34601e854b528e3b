// Paths first, times second (after a prototype; "All-to-All without symmetry" there).
//
// Matching packets to links step by step overloads the centre of a network: it reached only 53-98 % of the
// bound. So every chunk is given a path before any of them moves, under prices that grow exponentially with
// the load of the links (link_prices).
//
// 1. Chunks in random order, each along the cheapest of its ways of fewest hops: regular networks are balanced
//    to within a percent by this alone.
// 2. Rip up and reroute: chunks that cross a link fuller than the bar are taken out and planned anew, again
//    along fewest hops, with prices that count the bar as full. Repeated while the fullest link becomes less
//    full.
// 3. Where fewest hops cannot do it (a group in the corner of a mesh, failed links) the same with detours.
//
// Then list_schedule gives the times.

#include "heuristics/priced_paths.hpp"

#include "heuristics/path_search.hpp"
#include "heuristics/target_distances.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>

namespace tutti::heuristics {
namespace {

/// The one target of each spread that is not a source; a source where nothing is to be done. None if a spread
/// has several.
std::optional<std::vector<NodeId>> sole_targets(const SpreadProblem& problem) {
    std::vector<NodeId> targets;
    targets.reserve(problem.spreads.size());
    for (const Spread& spread : problem.spreads) {
        if (spread.sources.empty()) return std::nullopt;
        NodeId sole = spread.sources.front();
        for (const NodeId target : spread.targets) {
            if (target == sole || std::ranges::find(spread.sources, target) != spread.sources.end()) continue;
            if (std::ranges::find(spread.sources, sole) == spread.sources.end()) return std::nullopt;
            sole = target;
        }
        targets.push_back(sole);
    }
    return targets;
}

class PathPlanner {
  public:
    PathPlanner(const SpreadProblem& problem, std::vector<NodeId> targets, Rng& rng, const Stop& stop)
        : problem_(problem),
          targets_(std::move(targets)),
          stop_(stop),
          times_(problem),
          prices_(problem, times_),
          search_(problem.graph, prices_),
          distances_(problem, targets_),
          paths_(targets_.size()),
          target_(std::max<std::int64_t>(1, times_.units(problem.target + times_.ticks(1) - Ticks(1)))) {
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            const auto& sources = problem.spreads[i].sources;
            if (std::ranges::find(sources, targets_[i]) == sources.end()) {
                order_.push_back(static_cast<std::uint32_t>(i));
            }
        }
        rng.shuffle(order_);
        if (distances_.blocks() > 1) {
            std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return distances_.block_of(i); });
        }
    }

    std::optional<TreePlan> run() {
        const auto t0 = clock();
        if (!first_pass()) return std::nullopt;
        if (getenv("PP")) fprintf(stderr, "first pass: max %ld %.3f s\n", prices_.largest_load(), double(clock() - t0) / CLOCKS_PER_SEC);
        if (!repair(false) || !repair(true)) return std::nullopt;
        return plan();
    }

  private:
    /// A path's hops, in the pool.
    struct Path {
        std::uint32_t begin = 0;
        std::uint32_t length = 0;
        std::uint32_t room = 0;
    };

    [[nodiscard]] std::span<const HopId> hops(std::size_t i) const {
        return std::span(pool_).subspan(paths_[i].begin, paths_[i].length);
    }

    void store(std::size_t i, std::span<const HopId> path) {
        Path& own = paths_[i];
        own.length = static_cast<std::uint32_t>(path.size());
        if (path.size() > own.room) {
            own.begin = static_cast<std::uint32_t>(pool_.size());
            own.room = own.length;
            pool_.insert(pool_.end(), path.begin(), path.end());
        } else {
            std::ranges::copy(path, pool_.begin() + own.begin);
        }
        for (const HopId hop : path) prices_.add(hop, times_.kind(i));
    }

    void rip_up(std::size_t i) {
        for (const HopId hop : hops(i)) prices_.remove(hop, times_.kind(i));
    }

    [[nodiscard]] bool route(std::size_t i, bool detours) {
        const Spread& spread = problem_.spreads[i];
        distances_.fill(distances_.block_of(i));
        const auto row = distances_.row(i);
        const std::uint32_t kind = times_.kind(i);
        const auto path = detours ? search_.any(spread.sources, targets_[i], kind, row)
                                  : search_.shortest(spread.sources, targets_[i], kind, row);
        if (path.empty()) return false;
        store(i, path);
        return true;
    }

    bool first_pass() {
        std::int64_t base = target_;
        prices_.set_base(base);
        for (std::size_t n = 0; n < order_.size(); ++n) {
            if ((n & 255U) == 0) {
                if (stop_.requested()) return false;
                // The target may be far below what the links must carry.
                if (const auto most = prices_.largest_load(); most > base) {
                    base = most + most / 4;
                    prices_.set_base(base);
                }
            }
            if (!route(order_[n], false)) return false;
        }
        return true;
    }

    bool repair(bool detours) {
        std::int64_t most = prices_.largest_load();
        for (int pass = 0, idle = 0; most > target_ && idle < 2; ++pass) {
            const std::int64_t bar = std::max(target_, most - most / 50 - 1);
            prices_.set_base(bar);
            std::size_t ripped = 0;
            const auto t0 = clock();
            for (std::size_t n = 0; n < order_.size(); ++n) {
                if ((n & 255U) == 0 && stop_.requested()) return false;
                const std::size_t i = order_[n];
                if (std::ranges::none_of(hops(i), [&](HopId h) { return prices_.load(h) > bar; })) continue;
                ++ripped;
                rip_up(i);
                if (!route(i, detours)) return false;
            }
            const std::int64_t now = prices_.largest_load();
            if (getenv("PP")) fprintf(stderr, "pass %d detours %d: bar %ld ripped %zu max %ld -> %ld %.3f s\n", pass, detours, bar, ripped, most, now, double(clock() - t0) / CLOCKS_PER_SEC);
            if (now < most) {
                idle = 0;
                most = now;
            } else {
                ++idle;
            }
        }
        return true;
    }

    [[nodiscard]] TreePlan plan() const {
        TreePlan plan;
        plan.begin.reserve(paths_.size() + 1);
        plan.hops.reserve(pool_.size());
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            const auto path = hops(i);
            plan.hops.insert(plan.hops.end(), path.begin(), path.end());
            plan.begin.push_back(static_cast<std::uint32_t>(plan.hops.size()));
        }
        return plan;
    }

    const SpreadProblem& problem_;
    const std::vector<NodeId> targets_;
    const Stop& stop_;
    const HopTimes times_;
    LinkPrices prices_;
    PathSearch search_;
    TargetDistances distances_;
    std::vector<std::uint32_t> order_;  ///< the spreads, shuffled
    std::vector<Path> paths_;
    std::vector<HopId> pool_;
    const std::int64_t target_;  ///< in units, rounded up
};

}  // namespace

std::optional<TreePlan> plan_paths(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    auto targets = sole_targets(problem);
    if (!targets) return std::nullopt;
    return PathPlanner(problem, std::move(*targets), rng, stop).run();
}

std::optional<SpreadSolution> route_paths(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    const auto plan = plan_paths(problem, rng, stop);
    if (!plan) return std::nullopt;
    ListOptions options;
    options.seed = rng.next();
    return list_schedule(problem, *plan, options, stop);
}

}  // namespace tutti::heuristics
