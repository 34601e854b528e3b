// Which heuristics are tried on a problem, how often, and in which order.
//
// No heuristic wins everywhere, and which one does can be told from the problem only roughly; so all that
// suit are tried, the most promising first, until the target is met. Small problems are tried many times,
// large ones once: the work is counted in sends, never in seconds, so that the same seed gives the same
// schedule on every machine.

#include "heuristics/portfolio.hpp"

#include "heuristics/flood_matcher.hpp"
#include "heuristics/spread_bound.hpp"
#include "heuristics/tree_insertion.hpp"

#include <algorithm>
#include <future>

namespace tutti::heuristics {
namespace {

/// Sends for which all tries together may be made; keeps small problems good and large ones quick.
constexpr std::size_t kSendsToTry = 50'000;
constexpr std::size_t kMaxRounds = 64;

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

std::vector<SpreadHeuristic> contenders(const SpreadProblem& problem, const Traits& traits) {
    std::vector<SpreadHeuristic> result;
    if (problem.graph.is_direct() && !traits.unicast) result.push_back(flood);
    if (result.empty() || !traits.whole || traits.sends <= kSendsToTry) result.push_back(insert_trees);
    return result;
}

class Search {
  public:
    Search(const SpreadProblem& problem, Rng& rng, unsigned threads, const Stop& stop)
        : problem_(problem),
          target_(std::max(problem.target, spread_bound(problem))),
          rng_(rng),
          threads_(std::max(threads, 1U)),
          stop_(stop) {}

    std::optional<SpreadSolution> run(Effort effort) {
        if (problem_.spreads.empty()) return SpreadSolution{};
        const Traits traits = traits_of(problem_);
        const auto heuristics = contenders(problem_, traits);
        const std::size_t rounds =
            effort == Effort::Anytime
                ? SIZE_MAX
                : std::clamp<std::size_t>(kSendsToTry / (traits.sends + 1), 1, kMaxRounds);
        std::vector<SpreadHeuristic> queue;
        for (std::size_t round = 0; round < rounds && !done(); ++round) {
            for (const SpreadHeuristic heuristic : heuristics) {
                queue.push_back(heuristic);
                if (queue.size() == threads_) take(queue);
            }
        }
        take(queue);
        return std::move(best_);
    }

  private:
    [[nodiscard]] bool done() const { return stop_.requested() || (best_ && best_->makespan <= target_); }

    /// Runs what is queued, side by side, and keeps the best.
    void take(std::vector<SpreadHeuristic>& queue) {
        if (done()) queue.clear();
        std::vector<std::future<std::optional<SpreadSolution>>> running;
        for (const SpreadHeuristic heuristic : queue) {
            running.push_back(std::async(
                queue.size() > 1 ? std::launch::async : std::launch::deferred,
                [this, heuristic, rng = rng_.split()]() mutable { return heuristic(problem_, rng, stop_); }));
        }
        for (auto& attempt : running) {
            auto solution = attempt.get();
            if (solution && (!best_ || solution->makespan < best_->makespan)) best_ = std::move(solution);
        }
        queue.clear();
    }

    const SpreadProblem& problem_;
    const Ticks target_;
    Rng& rng_;
    const unsigned threads_;
    const Stop& stop_;
    std::optional<SpreadSolution> best_;
};

}  // namespace

std::optional<SpreadSolution> best_spread(const SpreadProblem& problem, Effort effort, Rng& rng,
                                          unsigned threads, const Stop& stop) {
    return Search(problem, rng, threads, stop).run(effort);
}

}  // namespace tutti::heuristics
