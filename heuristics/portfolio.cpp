// Which heuristics are tried on a problem, how often, and in which order.
//
// No heuristic wins everywhere, and which one does can be told from the problem only roughly; so all that
// suit are tried, the most promising first, until the target is met. Small problems are tried many times,
// large ones once: the work is counted in sends, never in seconds, so that the same seed gives the same
// schedule on every machine. With more effort the tries go on until the stop, and in between the best
// solution is repaired.

#include "heuristics/portfolio.hpp"

#include "heuristics/flood_matcher.hpp"
#include "heuristics/lockstep.hpp"
#include "heuristics/spread_bound.hpp"
#include "heuristics/switch_flood.hpp"
#include "heuristics/tree_insertion.hpp"

#include <algorithm>
#include <functional>
#include <future>

namespace tutti::heuristics {
namespace {

/// Sends for which tries beyond the first of each heuristic may be made: some milliseconds.
constexpr std::size_t kSendsToTry = 100'000;
constexpr std::size_t kMaxRounds = 64;
/// Up to so many sends every heuristic that suits gets a try, however slow.
constexpr std::size_t kFewSends = 50'000;
/// From so many NPUs on floods run out of the cache.
constexpr std::size_t kManyNpus = 3000;

/// What decides which heuristics suit.
struct Traits {
    std::size_t sends = 0;
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
    Search(const SpreadProblem& problem, Rng& rng, unsigned threads, const Stop& stop)
        : problem_(problem),
          traits_(traits_of(problem)),
          target_(std::max(problem.target, spread_bound(problem))),
          rng_(rng),
          threads_(std::max(threads, 1U)),
          stop_(stop) {
        enter_contenders();
    }

    std::optional<SpreadSolution> run(Effort effort) {
        const std::size_t work = contenders_.size() * (traits_.sends + 1);
        const std::size_t rounds =
            effort == Effort::Anytime ? SIZE_MAX : std::clamp<std::size_t>(kSendsToTry / work, 1, kMaxRounds);
        for (std::size_t round = 0; round < rounds && !done(); ++round) take_round();
        return std::move(best_);
    }

  private:
    using Contender = std::function<std::optional<SpreadSolution>(Rng&)>;

    [[nodiscard]] bool done() const { return stop_.requested() || (best_ && best_->makespan <= target_); }

    void enter(SpreadHeuristic heuristic) {
        contenders_.emplace_back([this, heuristic](Rng& rng) { return heuristic(problem_, rng, stop_); });
    }

    void enter_contenders() {
        const bool few = traits_.sends <= kFewSends;
        if (problem_.graph.is_direct() && !traits_.unicast) {
            if (traits_.whole && problem_.graph.nodes() >= kManyNpus) enter(lockstep);
            flood_.emplace(problem_);
            const auto variants = flood_->variants();
            for (std::size_t i = 0; i < (few ? variants.size() : 1); ++i) {
                contenders_.emplace_back(
                    [this, options = variants[i]](Rng& rng) { return flood_->run(options, rng, stop_); });
            }
        }
        if (!problem_.graph.is_direct() && !traits_.unicast) enter(flood_switched);
        if (few || contenders_.empty() || !traits_.whole) enter(insert_trees);
    }

    /// One try of each contender, `threads_` at a time.
    void take_round() {
        for (std::size_t i = 0; i < contenders_.size() && !done();) {
            std::vector<std::future<std::optional<SpreadSolution>>> running;
            for (; i < contenders_.size() && running.size() < threads_; ++i) {
                running.push_back(std::async(
                    threads_ > 1 ? std::launch::async : std::launch::deferred,
                    [&contender = contenders_[i], rng = rng_.split()]() mutable { return contender(rng); }));
            }
            for (auto& attempt : running) keep(attempt.get());
        }
    }

    void keep(std::optional<SpreadSolution> solution) {
        if (solution && (!best_ || solution->makespan < best_->makespan)) best_ = std::move(solution);
    }

    const SpreadProblem& problem_;
    const Traits traits_;
    const Ticks target_;
    Rng& rng_;
    const unsigned threads_;
    const Stop& stop_;
    std::optional<FloodMatcher> flood_;
    std::vector<Contender> contenders_;
    std::optional<SpreadSolution> best_;
};

}  // namespace

std::optional<SpreadSolution> best_spread(const SpreadProblem& problem, Effort effort, Rng& rng,
                                          unsigned threads, const Stop& stop) {
    if (problem.spreads.empty()) return SpreadSolution{};
    return Search(problem, rng, threads, stop).run(effort);
}

}  // namespace tutti::heuristics
