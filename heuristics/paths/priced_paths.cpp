// Paths first, times second (after a prototype; "All-to-All without symmetry" there).
//
// Matching packets to links step by step overloads the centre of a network: it reached only 53-98 % of the
// bound. So every chunk gets a path before any of them moves, at prices that grow exponentially with the load
// of the links (link_prices).
//
// 1. Chunks in random order, each along the cheapest of its paths of fewest hops: this alone balances regular
//    networks to within a percent.
// 2. Rip up and reroute: chunks that cross a link fuller than the bar are removed and rerouted, again along
//    fewest hops, at prices that count the bar as full. Repeated while the load of the fullest link falls.
// 3. Where fewest hops do not suffice (a group in the corner of a mesh, failed links) the same with detours.
//
// Then list_schedule gives the times, and justification improves them where links had to wait. Where the
// result still exceeds the fullest link (networks of switches, whose ports are all full), everything is
// repeated in rounds: in round k every source sends to the target k further on. Planned and scheduled round
// by round, loads are even at all times. All-to-all in fat trees of 64 NPUs, bound 64: 82 and 86 ticks as
// listed, 75 and 78 justified, 68 and 72 in rounds; a dragonfly of 136, bound 136: 167, 149 and 163.

#include "heuristics/paths/priced_paths.hpp"

#include "heuristics/paths/justification.hpp"
#include "heuristics/paths/path_search.hpp"
#include "heuristics/paths/target_distances.hpp"
#include "heuristics/paths/urgency.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

/// How many chunks to one target are routed with one survey of the prices.
constexpr std::uint32_t kBatch = 32;

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
    PathPlanner(const SpreadProblem& problem, std::vector<NodeId> targets, PlanOrder order, Rng& rng,
                const Stop& stop)
        : problem_(problem),
          in_rounds_(order == PlanOrder::Rounds),
          targets_(std::move(targets)),
          rng_(rng),
          stop_(stop),
          times_(problem),
          prices_(problem, times_, {problem.options.paths_steepness, problem.options.paths_toll}),
          search_(problem.graph, prices_),
          distances_(problem, targets_),
          paths_(targets_.size()),
          base_(std::max<std::int64_t>(1, times_.units(problem.target + times_.ticks(1) - Ticks(1)))),
          target_(base_) {
        // With latency, link loads may stay below the makespan.
        bool latency = false;
        for (std::size_t h = 0; h < problem.graph.hops() && !targets_.empty(); ++h) {
            latency = latency || times_.transit(HopId(h), 0) != times_.busy(HopId(h), 0);
        }
        if (latency && targets_.size() <= problem.options.paths_many) target_ = 1;
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            const auto& sources = problem.spreads[i].sources;
            if (std::ranges::find(sources, targets_[i]) == sources.end()) {
                order_.push_back(static_cast<std::uint32_t>(i));
            }
        }
        rng.shuffle(order_);
        if (in_rounds_) {
            std::ranges::stable_sort(order_, {},
                                     [&](std::uint32_t i) { return shift_of(problem, problem.spreads[i]); });
        }
    }

    std::optional<TreePlan> run() {
        if (!first_pass()) return std::nullopt;
        if (!repair(false)) return std::nullopt;
        if (!is_good_enough()) raise_target();
        if (wants_detours() && !repair(true)) return std::nullopt;
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
        // In rounds the base is the largest load planned so far.
        std::int64_t base = in_rounds_ ? 1 : base_;
        prices_.set_base(base);
        const auto batches = in_rounds_ ? singles() : batched();
        for (std::size_t n = 0; n + 1 < batches.size(); ++n) {
            if ((n & 15U) == 0) {
                if (stop_.requested()) return false;
                // The target may be far below what the links must carry.
                if (const auto most = prices_.largest_load(); most > base) {
                    base = in_rounds_ ? most : most + most / 4;
                    prices_.set_base(base);
                }
            }
            if (!route_batch(std::span(order_).subspan(batches[n], batches[n + 1] - batches[n])))
                return false;
        }
        return true;
    }

    [[nodiscard]] bool route_batch(std::span<const std::uint32_t> batch) {
        if (batch.size() < kBatch / 4) {
            return std::ranges::all_of(batch, [&](std::uint32_t i) { return route(i, false); });
        }
        const std::size_t first = batch.front();
        const std::uint32_t kind = times_.kind(first);
        distances_.fill(distances_.block_of(first));
        const auto row = distances_.row(first);
        search_.survey(distances_.nearest_first(first), kind, row);
        for (const std::uint32_t i : batch) {
            const auto path = search_.follow(problem_.spreads[i].sources, kind, row);
            if (path.empty()) return false;
            store(i, path);
        }
        return true;
    }

    [[nodiscard]] std::vector<std::uint32_t> singles() const {
        std::vector<std::uint32_t> begin(order_.size() + 1);
        std::iota(begin.begin(), begin.end(), 0U);
        return begin;
    }

    /// Groups spreads to the same target, kBatch at a time, otherwise in random order. Returns where the
    /// batches begin.
    std::vector<std::uint32_t> batched() {
        const auto key = [&](std::uint32_t i) {
            return std::uint64_t{distances_.row_number(i)} * times_.kinds() + times_.kind(i);
        };
        std::vector<std::uint32_t> sorted(order_);
        std::ranges::stable_sort(sorted, {}, key);
        struct Batch {
            std::uint32_t begin, end;
        };
        std::vector<Batch> batches;
        for (std::uint32_t i = 0; i < sorted.size(); ++i) {
            const bool joins = !batches.empty() && i - batches.back().begin < kBatch &&
                               key(sorted[i]) == key(sorted[batches.back().begin]);
            if (joins) {
                batches.back().end = i + 1;
            } else {
                batches.push_back({i, i + 1});
            }
        }
        rng_.shuffle(batches);
        if (distances_.blocks() > 1) {
            std::ranges::stable_sort(
                batches, {}, [&](const Batch& batch) { return distances_.block_of(sorted[batch.begin]); });
        }
        order_.clear();
        std::vector<std::uint32_t> begin{0};
        for (const Batch& batch : batches) {
            order_.insert(order_.end(), sorted.begin() + batch.begin, sorted.begin() + batch.end);
            begin.push_back(static_cast<std::uint32_t>(order_.size()));
        }
        return begin;
    }

    /// Whether the fullest link is at its lower bound, within a few thousandths where there are many chunks.
    [[nodiscard]] bool is_good_enough() const {
        const std::int64_t slack = order_.size() > problem_.options.paths_many ? target_ / 256 : 0;
        return prices_.largest_load() <= target_ + slack;
    }

    /// The lower bound may be a few percent too low, and detours are expensive with many chunks.
    [[nodiscard]] bool wants_detours() const {
        const std::int64_t slack = order_.size() > problem_.options.paths_many ? target_ / 64 : 0;
        return prices_.largest_load() > target_ + slack;
    }

    /// Links fuller than this are relieved: those within 1/50 of the fullest, but no more of them than carry
    /// 1/16 of all load, because each pass should reroute few chunks.
    [[nodiscard]] std::int64_t bar() const {
        std::vector<std::int64_t> loads(prices_.loads());
        std::ranges::sort(loads, std::greater<>());
        const std::int64_t most = loads.front();
        const double share =
            static_cast<double>(std::accumulate(loads.begin(), loads.end(), std::int64_t{0})) / 16;
        double sum = 0;
        std::int64_t level = most;
        for (std::size_t l = 0; l < loads.size() && sum <= share; ++l) {
            sum += static_cast<double>(loads[l]);
            level = loads[l];
        }
        return std::min(most - 1, std::max({target_, level, most - most / 50}));
    }

    /// Raises a lower bound on the load of the fullest link, over all choices of paths: each chunk pays at
    /// least the price of its cheapest path, and all links together receive at most the largest load times
    /// their prices (LP duality). At prices that make the full links expensive it is nearly tight, and shows
    /// when more rerouting is useless.
    void raise_target() {
        prices_.set_base(prices_.largest_load());
        double paid = 0;
        std::size_t searches = 0;
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            const Spread& spread = problem_.spreads[i];
            const bool same = i > 0 && times_.kind(i) == times_.kind(i - 1) &&
                              std::ranges::equal(spread.sources, problem_.spreads[i - 1].sources);
            if (!same) {
                if (++searches * problem_.graph.hops() > problem_.options.reroute_work ||
                    ((searches & 15U) == 0 && stop_.requested()))
                    return;
                search_.price_everywhere(spread.sources, times_.kind(i));
            }
            paid += search_.price_to(targets_[i]);
        }
        target_ = std::max(target_, static_cast<std::int64_t>(paid / prices_.total()));
    }

    /// Whether the chunk's path leads over a link fuller than the bar.
    [[nodiscard]] bool crosses(std::size_t i, std::int64_t bar) const {
        return std::ranges::any_of(hops(i), [&](HopId hop) { return prices_.load(hop) > bar; });
    }
    [[nodiscard]] std::size_t over(std::int64_t bar) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(order_, [&](std::uint32_t i) { return crosses(i, bar); }));
    }

    bool repair(bool detours) {
        while (!is_good_enough()) {
            const std::int64_t most = prices_.largest_load();
            const std::int64_t bar = this->bar();
            prices_.set_base(bar);
            if (detours && over(bar) * problem_.graph.hops() > problem_.options.reroute_work) break;
            for (std::size_t n = 0; n < order_.size(); ++n) {
                if ((n & 255U) == 0 && stop_.requested()) return false;
                const std::size_t i = order_[n];
                if (!crosses(i, bar)) continue;
                rip_up(i);
                if (!route(i, detours)) return false;
            }
            const std::int64_t now = prices_.largest_load();
            if (now >= most) break;
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
    const bool in_rounds_;
    const std::vector<NodeId> targets_;
    Rng& rng_;
    const Stop& stop_;
    const HopTimes times_;
    LinkPrices prices_;
    PathSearch search_;
    TargetDistances distances_;
    std::vector<std::uint32_t> order_;  ///< the spreads, shuffled
    std::vector<Path> paths_;
    std::vector<HopId> pool_;
    const std::int64_t base_;  ///< the makespan aimed at, in units
    std::int64_t target_;      ///< what the fullest link must carry, in units
};

/// List-schedules the plan, and improves that if it takes longer than the goal.
std::optional<SpreadSolution> timed(const SpreadProblem& problem, const TreePlan& plan,
                                    const ListOptions& options, Ticks goal, const Stop& stop) {
    auto solution = list_schedule(problem, plan, options, stop);
    const std::size_t arcs = plan.hops.size();
    if (!solution || solution->makespan <= goal || arcs > problem.options.justification_sends)
        return solution;
    auto starts = list_starts(problem, plan, options, stop);
    if (!starts) return solution;
    const auto rounds =
        static_cast<unsigned>(std::clamp<std::size_t>(problem.options.justification_moves / arcs, 2, 64));
    if (justify(problem, plan, *starts, rounds, goal, stop) < solution->makespan) {
        return solution_of(problem, plan, *starts);
    }
    return solution;
}

}  // namespace

std::optional<TreePlan> plan_paths(const SpreadProblem& problem, PlanOrder order, Rng& rng,
                                   const Stop& stop) {
    auto targets = sole_targets(problem);
    if (!targets) return std::nullopt;
    return PathPlanner(problem, std::move(*targets), order, rng, stop).run();
}

std::string why_no_paths(const SpreadProblem& problem) {
    return sole_targets(problem) ? "" : "a chunk is wanted, or contributed to, by several";
}

std::optional<SpreadSolution> route_paths(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    std::optional<SpreadSolution> best;
    for (const PlanOrder order : {PlanOrder::Random, PlanOrder::Rounds}) {
        const auto plan = plan_paths(problem, order, rng, stop);
        if (!plan) return best;
        ListOptions options;
        options.seed = rng.next();
        if (order == PlanOrder::Rounds) {
            options.urgency = Urgency::InTurn;
            options.turns = Turns::Shifted;
        }
        // No schedule of this plan is shorter than its largest load; the difference is time that links wait.
        const auto loads = link_loads(problem, *plan);
        Ticks goal = std::max(problem.target, loads.empty() ? Ticks(0) : std::ranges::max(loads));
        const std::size_t arcs = plan->hops.size();
        const std::size_t many = problem.options.paths_many;
        if (arcs > many) goal += Ticks(goal.count() / (arcs > 16 * many ? 64 : 256));
        auto solution = timed(problem, *plan, options, goal, stop);
        if (!solution) return best;
        if (!best || solution->makespan < best->makespan) best = std::move(solution);
        if (best->makespan <= goal || arcs > problem.options.justification_sends) break;
    }
    return best;
}

}  // namespace tutti::heuristics
