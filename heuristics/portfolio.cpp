// Which heuristics are tried on a problem, how often, and in which order.
//
// No heuristic wins everywhere, and which one does can be told from the problem only roughly; so all that
// suit are tried, the most promising first, until the target is met. Small problems are tried many times,
// large ones once: the work is counted in sends, never in seconds, so that the same seed gives the same
// schedule on every machine. With more effort the tries go on until the stop: mostly repairs of the best
// solution, now and then a fresh start.

#include "heuristics/portfolio.hpp"

#include "heuristics/flood/flood_search.hpp"
#include "heuristics/lockstep/lockstep.hpp"
#include "heuristics/paths/priced_paths.hpp"
#include "heuristics/spread_bound.hpp"
#include "heuristics/switches/switch_flood.hpp"
#include "heuristics/trees/repair.hpp"
#include "heuristics/trees/steiner_trees.hpp"
#include "heuristics/trees/tree_insertion.hpp"

#include <algorithm>
#include <functional>
#include <future>

namespace tutti::heuristics {
namespace {

/// Sends for which tries may be made: some ten milliseconds.
constexpr std::size_t kSendsToTry = 150'000;
constexpr std::size_t kMaxTries = 64;
/// Up to so many sends every heuristic that suits gets a try, however slow.
constexpr std::size_t kFewSends = 50'000;
/// From so many NPUs on floods run out of the cache.
constexpr std::size_t kManyNpus = 3000;
/// Repairs between two looks at what else could be tried.
constexpr std::uint64_t kMoves = 1000;
/// A quick search repairs problems of so few sends, and only for some milliseconds: a move costs about as
/// much as there are sends.
constexpr std::size_t kSendsToRepair = 4000;
constexpr std::uint64_t kQuickWork = 300'000;
/// One round in so many starts afresh.
constexpr std::size_t kFreshStart = 4;

/// What decides which heuristics suit.
struct Traits {
    std::size_t sends = 1;
    bool unicast = true;  ///< every chunk has one target
    bool whole = true;    ///< every chunk goes to every NPU
};

Traits traits_of(const SpreadProblem& problem) {
    Traits traits;
    const std::size_t npus = problem.graph.instance().topology().npus();
    for (const Spread& spread : problem.spreads) {
        traits.sends += spread.targets.size();
        traits.unicast = traits.unicast && spread.targets.size() == 1;
        traits.whole = traits.whole && spread.targets.size() == npus;
    }
    return traits;
}

class Search {
  public:
    /// `problem` has its own bound as target.
    Search(const SpreadProblem& problem, Rng& rng, unsigned threads, const Stop& stop)
        : problem_(problem),
          traits_(traits_of(problem)),
          tries_(std::clamp<std::size_t>(kSendsToTry / traits_.sends, 1, kMaxTries)),
          rng_(rng),
          threads_(std::max(threads, 1U)),
          stop_(stop) {
        enter_contenders();
    }

    std::optional<SpreadSolution> run(Effort effort) {
        take_turns(contenders_);
        if (effort == Effort::Anytime) {
            for (std::size_t round = 1; !is_done(); ++round) {
                take_turns(round % kFreshStart == 0 || !best_ ? contenders_ : repairs(kMoves));
            }
        } else if (traits_.sends <= kSendsToRepair && best_) {
            take_turns(repairs(kQuickWork / traits_.sends));
        }
        return std::move(best_);
    }

  private:
    using Contender = std::function<std::optional<SpreadSolution>(Rng&)>;

    [[nodiscard]] bool is_done() const {
        return stop_.requested() || (best_ && best_->makespan <= problem_.target);
    }

    void enter(SpreadHeuristic heuristic, std::size_t tries) {
        contenders_.emplace_back([this, heuristic, tries](Rng& rng) {
            std::optional<SpreadSolution> best;
            for (std::size_t i = 0; i < tries && !stop_.requested(); ++i) {
                if (best && best->makespan <= problem_.target) break;
                auto tried = heuristic(problem_, rng, stop_);
                if (tried && (!best || tried->makespan < best->makespan)) best = std::move(tried);
            }
            return best;
        });
    }

    void enter_contenders() {
        const bool direct = problem_.graph.is_direct();
        const bool few = traits_.sends <= kFewSends;
        if (traits_.unicast) {
            enter(route_paths, std::max<std::size_t>(tries_ / 8, 1));
        } else if (!direct) {
            enter(flood_switched, std::max<std::size_t>(tries_ / 2, 1));
        } else {
            if (traits_.whole && problem_.graph.nodes() >= kManyNpus) enter(lockstep, 1);
            contenders_.emplace_back([this](Rng& rng) { return flood_search(problem_, rng, stop_, tries_); });
        }
        if (!traits_.unicast && (!traits_.whole || (few && !direct))) {
            enter(plan_trees, std::max<std::size_t>(tries_ / 16, 1));
        }
        if (few || contenders_.empty()) enter(insert_trees, std::max<std::size_t>(tries_ / 8, 1));
    }

    [[nodiscard]] std::vector<Contender> repairs(std::uint64_t moves) const {
        return std::vector<Contender>(
            threads_, [this, moves](Rng& rng) { return improve(problem_, *best_, rng, stop_, moves); });
    }

    /// All of them, `threads_` at a time.
    void take_turns(const std::vector<Contender>& contenders) {
        for (std::size_t i = 0; i < contenders.size() && !is_done();) {
            std::vector<std::future<std::optional<SpreadSolution>>> running;
            for (; i < contenders.size() && running.size() < threads_; ++i) {
                running.push_back(std::async(
                    threads_ > 1 ? std::launch::async : std::launch::deferred,
                    [&contender = contenders[i], rng = rng_.split()]() mutable { return contender(rng); }));
            }
            std::vector<std::optional<SpreadSolution>> found;
            for (auto& attempt : running) found.push_back(attempt.get());
            for (auto& solution : found) {
                if (solution && (!best_ || solution->makespan <= best_->makespan))
                    best_ = std::move(solution);
            }
        }
    }

    const SpreadProblem& problem_;
    const Traits traits_;
    const std::size_t tries_;
    Rng& rng_;
    const unsigned threads_;
    const Stop& stop_;
    std::vector<Contender> contenders_;
    std::optional<SpreadSolution> best_;
};

}  // namespace

std::optional<SpreadSolution> best_spread(SpreadProblem& problem, Effort effort, Rng& rng, unsigned threads,
                                          const Stop& stop) {
    if (problem.spreads.empty()) return SpreadSolution{};
    problem.target = std::max(problem.target, spread_bound(problem));
    return Search(problem, rng, threads, stop).run(effort);
}

}  // namespace tutti::heuristics
