// Which heuristics are tried on a problem, how often, and in which order.
//
// No heuristic is best everywhere, and the best one can only roughly be predicted; so all that suit the
// problem are tried, the most promising first (heuristic_table.cpp), until the target is met. Small problems
// are tried many times, large ones once: the work is counted in sends, never in seconds, so that the same
// seed gives the same schedule on every machine. With more effort the tries continue until the stop: mostly
// repairs of the best solution, sometimes a fresh start. A heuristic that runs alone starts from scratch
// every time.

#include "heuristics/portfolio.hpp"

#include "heuristics/spread_bound.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>

namespace tutti::heuristics {
namespace {

/// Sends, not hops: a hop may lead over several links.
std::uint64_t sends_of(const HopGraph& graph, const SpreadSolution& solution) {
    if (graph.is_simple()) return solution.transfers.size();
    std::uint64_t sends = 0;
    for (const Transfer& transfer : solution.transfers) sends += graph.hop(transfer.hop).legs.size();
    return sends;
}

class Search {
  public:
    /// `problem` has its own bound as target.
    Search(const SpreadProblem& problem, const SpreadRequest& request, Rng& rng, const Stop& stop)
        : problem_(problem),
          options_(problem.options),
          traits_(traits_of(problem)),
          tries_(std::clamp<std::size_t>(options_.tries_work / traits_.sends, 1, options_.tries)),
          effort_(request.effort),
          rng_(rng),
          threads_(std::max(request.threads, 1U)),
          stop_(stop),
          turn_(request.turn.value_or(stop)),
          repair_(*find_heuristic(kRuinAndRecreate)) {
        if (request.alone != nullptr) {
            enter_alone(*request.alone);
        } else {
            enter_contenders();
        }
    }

    SpreadResult run() {
        run_all(contenders_);
        if (effort_ == Effort::Anytime) {
            for (std::size_t round = 1; !is_done(); ++round) {
                const bool fresh = !may_repair_ || round % options_.fresh_start == 0 || !result_.solution;
                run_all(fresh ? contenders_ : repairs(options_.repair_moves));
            }
        } else if (may_repair_ && result_.solution &&
                   (only_repair_ || traits_.sends <= options_.repair_sends)) {
            const std::uint64_t moves = options_.repair_work / traits_.sends;
            run_all(repairs(only_repair_ ? std::max<std::uint64_t>(moves, 1) : moves));
        }
        return std::move(result_);
    }

  private:
    struct Contender {
        const Heuristic* heuristic;
        std::function<std::optional<SpreadSolution>(Rng&)> run;
    };
    struct Attempt {
        std::optional<SpreadSolution> solution;
        double seconds;
    };

    [[nodiscard]] const Stop& stop_now() const { return result_.solution ? turn_ : stop_; }
    [[nodiscard]] bool is_done() const {
        if (stop_.requested()) return true;
        return result_.solution && (turn_.requested() || result_.solution->makespan <= problem_.target);
    }

    void enter_contender(const Heuristic& heuristic) {
        const auto& phase = *heuristic.as<PhaseHeuristic>();
        contenders_.push_back({&heuristic, [this, run = phase.run,
                                            tries = std::max<std::size_t>(tries_ / phase.tries_divisor, 1)](
                                               Rng& rng) { return run(problem_, rng, stop_now(), tries); }});
    }

    void enter_contenders() {
        for (const Heuristic& heuristic : heuristics()) {
            const auto* phase = heuristic.as<PhaseHeuristic>();
            if (phase != nullptr && phase->is_tried(traits_, options_)) enter_contender(heuristic);
        }
    }

    void enter_alone(const Heuristic& heuristic) {
        only_repair_ = may_repair_ = heuristic.as<Improvement>() != nullptr;
        enter_contender(only_repair_ ? *find_heuristic(kTreeInsertion) : heuristic);
    }

    [[nodiscard]] std::vector<Contender> repairs(std::uint64_t moves) const {
        return std::vector<Contender>(
            threads_, Contender{&repair_, [this, moves, run = repair_.as<Improvement>()->run](Rng& rng) {
                                    return run(problem_, *result_.solution, rng, stop_now(), moves);
                                }});
    }

    /// Runs all of them, `threads_` at a time.
    void run_all(const std::vector<Contender>& contenders) {
        for (std::size_t i = 0; i < contenders.size() && !is_done();) {
            const std::size_t first = i;
            std::vector<std::future<Attempt>> running;
            for (; i < contenders.size() && running.size() < threads_; ++i) {
                running.push_back(std::async(threads_ > 1 ? std::launch::async : std::launch::deferred,
                                             [&contender = contenders[i], rng = rng_.split()]() mutable {
                                                 return timed(contender, rng);
                                             }));
            }
            std::vector<Attempt> found;
            for (auto& attempt : running) found.push_back(attempt.get());
            for (std::size_t k = 0; k < found.size(); ++k)
                take(*contenders[first + k].heuristic, std::move(found[k]));
        }
    }

    static Attempt timed(const Contender& contender, Rng& rng) {
        const auto begin = std::chrono::steady_clock::now();
        auto solution = contender.run(rng);
        return {std::move(solution),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
    }

    void take(const Heuristic& heuristic, Attempt attempt) {
        Candidate candidate{.heuristic = std::string(heuristic.name), .seconds = attempt.seconds};
        auto& best = result_.solution;
        // A repair that gained nothing has no solution of its own.
        const bool gained = attempt.solution &&
                            (&heuristic != &repair_ || !best || attempt.solution->makespan < best->makespan);
        if (gained) {
            candidate.makespan = attempt.solution->makespan;
            candidate.sends = sends_of(problem_.graph, *attempt.solution);
        } else {
            candidate.why_none = why_none(heuristic, attempt);
        }
        enter(result_.candidates, std::move(candidate));
        if (!attempt.solution || (best && attempt.solution->makespan > best->makespan)) return;
        best = std::move(attempt.solution);
        if (gained) result_.heuristic = heuristic.name;
    }

    [[nodiscard]] std::string why_none(const Heuristic& heuristic, const Attempt& attempt) const {
        const auto* phase = heuristic.as<PhaseHeuristic>();
        const auto* improvement = heuristic.as<Improvement>();
        std::string why = phase != nullptr ? phase->why_not(problem_) : improvement->why_not(problem_);
        if (!why.empty()) return why;
        if (attempt.solution) return "nothing better was found";
        return stop_.requested() ? "stopped" : "it found no path";
    }

    const SpreadProblem& problem_;
    const SearchOptions& options_;
    const SpreadTraits traits_;
    const std::size_t tries_;
    const Effort effort_;
    Rng& rng_;
    const unsigned threads_;
    const Stop& stop_;
    const Stop turn_;
    const Heuristic& repair_;
    bool may_repair_ = true;
    bool only_repair_ = false;
    std::vector<Contender> contenders_;
    SpreadResult result_;
};

}  // namespace

void enter(std::vector<Candidate>& candidates, Candidate candidate) {
    const auto known = std::ranges::find_if(candidates, [&](const Candidate& other) {
        return other.heuristic == candidate.heuristic && other.part == candidate.part;
    });
    if (known == candidates.end()) {
        candidates.push_back(std::move(candidate));
        return;
    }
    candidate.seconds += known->seconds;
    const bool better = candidate.makespan && (!known->makespan || *candidate.makespan <= *known->makespan);
    if (better) {
        *known = std::move(candidate);
    } else {
        known->seconds = candidate.seconds;
    }
}

SpreadResult best_spread(SpreadProblem& problem, const SpreadRequest& request, Rng& rng, const Stop& stop) {
    if (problem.spreads.empty()) return {SpreadSolution{}};
    problem.target = std::max(problem.target, spread_bound(problem));
    return Search(problem, request, rng, stop).run();
}

}  // namespace tutti::heuristics
