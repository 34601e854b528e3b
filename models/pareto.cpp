// SCCL's enumeration (Cai et al., PPoPP 2021, algorithm 1) with a termination proof. SCCL increases S and,
// for each, tries (R, C) by R/C, until R/C meets a given bound; where no algorithm meets it, it never ends.
// Here R/C is bounded by all cuts of the network, and C by the user. As every step has a round, S <= R; so
// once R/C = b is known to be feasible, a better point with at most C_max chunks has S <= R < b C_max, and
// the search is finite.

#include "models/pareto.hpp"

#include "models/remote/remote_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::models {
namespace {

bool is_flow(const StepProblem& problem) {
    return std::ranges::all_of(problem.classes, [](const StepClass& kind) {
        return kind.receivers.empty() || (kind.holders.size() == 1 && kind.receivers.size() == 1);
    });
}

double seconds_since(Stop::Clock::time_point begin) {
    return std::chrono::duration<double>(Stop::Clock::now() - begin).count();
}

/// The flow model is a network matrix with few other rows: branch and bound on its relaxation finds integer
/// solutions at once. Clause learning suits the literals of a multicast.
std::array<std::string_view, 3> preference(const StepProblem& problem) {
    if (is_flow(problem)) return {"highs", "cpsat", "z3"};
    return {"cpsat", "highs", "z3"};
}

}  // namespace

StepOracle::StepOracle(const StepProblem& problem, const ParetoRequest& request)
    : problem_(problem),
      request_(request),
      bounds_(problem),
      symmetries_(free_symmetries(problem)),
      stop_(request.seconds ? std::optional(std::chrono::duration<double>(*request.seconds)) : std::nullopt,
            request.interrupted) {
    const bool choose = request.backend == "auto";
    for (const std::string_view name : preference(problem)) {
        if (!choose && name != request.backend) continue;
        const BackendEntry* entry = find_backend(name);
        if (entry == nullptr) continue;
        OpenedBackend opened = remote::open_stoppable(name);
        if (!opened) {
            absence_ += fmt::format("{}{}: {}", absence_.empty() ? "" : "; ", name, opened.absence);
            continue;
        }
        backend_ = std::move(opened.backend);
        solver_ = fmt::format("{} {}", entry->solver, backend_->library().version);
        return;
    }
    if (!choose) throw LimitError(fmt::format("there is no solver '{}' ({})", request.backend, absence_));
}

bool StepOracle::implied_infeasible(const StepPoint& p) const {
    return std::ranges::any_of(infeasible_, [&](const StepPoint& q) {
        if (q.steps < p.steps) return false;
        const int times = q.rounds / p.rounds;
        return times >= 1 && q.chunks <= times * p.chunks;
    });
}

Stop StepOracle::next_stop(bool symmetric) const {
    // Where there is no symmetric algorithm, finding that out must not keep the whole model waiting for ever.
    constexpr double kSymmetricTry = 60;
    std::optional<double> limit;
    if (symmetric) limit = kSymmetricTry;
    if (request_.seconds) {
        const double left = std::max(0.0, *request_.seconds - seconds_since(begin_));
        const double share =
            request_.one_question && !symmetric ? left : std::min(left, std::max(1.0, left / 4));
        limit = std::min(share, limit.value_or(share));
    }
    if (!limit) return stop_;
    return Stop(std::chrono::duration<double>(*limit), request_.interrupted);
}

void StepOracle::solve(PointAnswer& answer) {
    if (!backend_) {
        throw LimitError(fmt::format("bounds do not decide S={} R={} C={}, and there is no solver ({})",
                                     answer.point.steps, answer.point.rounds, answer.point.chunks, absence_));
    }
    // Symmetric algorithms first: few variables, and often there is one. Only the whole model can say that
    // none exists.
    for (const bool symmetric : {true, false}) {
        if (symmetric && symmetries_.size() == 1) continue;
        const StepModel model(problem_, answer.point, symmetric ? symmetries_ : std::vector<StepSymmetry>(),
                              stop_);
        if (model.stopped()) {
            answer.words = "stopped while the model was written";
            return;
        }
        const Answer solved = backend_->solve(
            model.program(), {next_stop(symmetric), request_.threads, request_.seed, {}, stop_});
        answer.by = solver_;
        if (solved.has_solution()) {
            answer.decision = Decision::Feasible;
            answer.plan = model.plan(solved.values);
            if (symmetric) answer.words = fmt::format("symmetric in {} ways", symmetries_.size());
            return;
        }
        if (!symmetric && solved.ended == Ended::Infeasible) answer.decision = Decision::Infeasible;
        if (!symmetric && solved.ended != Ended::Infeasible) answer.words = solved.words;
    }
}

PointAnswer StepOracle::ask(const StepPoint& point) {
    const auto begin = Stop::Clock::now();
    PointAnswer answer;
    answer.point = point;
    if (auto words = bounds_.refutation(point)) {
        answer.decision = Decision::Infeasible;
        answer.by = point.steps < bounds_.fewest_steps() ? "distance" : "cut";
        answer.words = std::move(*words);
    } else if (point.steps > point.rounds) {
        answer.decision = Decision::Infeasible;
        answer.by = "definition";
        answer.words = "every step has at least one round";
    } else if (implied_infeasible(point)) {
        answer.decision = Decision::Infeasible;
        answer.by = "an earlier answer";
    } else {
        solve(answer);
        if (answer.decision == Decision::Infeasible) infeasible_.push_back(point);
    }
    answer.seconds = seconds_since(begin);
    return answer;
}

std::string story_line(const PointAnswer& answer) {
    const char* verdict = answer.decision == Decision::Feasible     ? "feasible"
                          : answer.decision == Decision::Infeasible ? "infeasible"
                                                                    : "undecided";
    return fmt::format("S={} R={} C={}: {} ({}{}{}), {:.3f} s", answer.point.steps, answer.point.rounds,
                       answer.point.chunks, verdict, answer.by, answer.words.empty() ? "" : ": ",
                       answer.words, answer.seconds);
}

int default_max_chunks(Ratio least_ratio) {
    constexpr std::int64_t kFew = 4, kMany = 12;
    return static_cast<int>(least_ratio.den > kMany ? kFew : std::max(kFew, least_ratio.den));
}

namespace {

class ParetoSearch {
  public:
    ParetoSearch(const StepProblem& problem, const ParetoRequest& request)
        : request_(request), oracle_(problem, request) {
        frontier_.fewest_steps = std::max(1, oracle_.bounds().fewest_steps());
        frontier_.least_ratio = oracle_.bounds().least_ratio();
        frontier_.max_chunks = request.max_chunks.value_or(default_max_chunks(frontier_.least_ratio));
        // All chunks over one link, one after the other, in every step: nothing needs more.
        for (const StepClass& kind : problem.classes) most_rounds_ += kind.count;
    }

    Frontier run() {
        tell(fmt::format("bounds   S >= {} (distance), R/C >= {}/{} (cut); C <= {}", frontier_.fewest_steps,
                         frontier_.least_ratio.num, frontier_.least_ratio.den, frontier_.max_chunks));
        for (int steps = frontier_.fewest_steps;; ++steps) {
            if (const auto end = end_before(steps)) {
                frontier_.end = *end;
                break;
            }
            visit(steps);
        }
        return std::move(frontier_);
    }

  private:
    [[nodiscard]] std::optional<Ratio> best() const {
        return frontier_.points.empty() ? std::nullopt : std::optional(frontier_.points.back().ratio());
    }

    [[nodiscard]] std::optional<ParetoEnd> end_before(int steps) const {
        if (best() && !(frontier_.least_ratio < *best())) return ParetoEnd::LeastRatio;
        if (oracle_.stopped()) return ParetoEnd::Stopped;
        // No R >= S is left that would be better.
        if (best() && !(Ratio{steps, frontier_.max_chunks} < *best())) return ParetoEnd::ChunksExhausted;
        if (request_.max_rounds && steps > *request_.max_rounds) return ParetoEnd::StepsExhausted;
        if (request_.max_steps && steps > *request_.max_steps) return ParetoEnd::StepsExhausted;
        return std::nullopt;
    }

    [[nodiscard]] std::vector<StepPoint> candidates(int steps) const {
        std::vector<StepPoint> points;
        for (int chunks = 1; chunks <= frontier_.max_chunks; ++chunks) {
            std::int64_t most = most_rounds_ * steps * chunks;
            if (request_.max_rounds) most = std::min<std::int64_t>(most, *request_.max_rounds);
            if (request_.k) most = std::min<std::int64_t>(most, steps + *request_.k);
            for (int rounds = steps; rounds <= most; ++rounds) {
                const Ratio ratio = Ratio::of(rounds, chunks);
                if (best() && !(ratio < *best())) break;
                if (!(ratio < frontier_.least_ratio)) points.push_back({steps, rounds, chunks});
            }
        }
        std::ranges::stable_sort(points, [](const StepPoint& a, const StepPoint& b) {
            return Ratio{a.rounds, a.chunks} < Ratio{b.rounds, b.chunks};
        });
        return points;
    }

    void visit(int steps) {
        bool proven = true;
        for (const StepPoint& point : candidates(steps)) {
            if (oracle_.stopped()) return;
            PointAnswer answer = oracle_.ask(point);
            if (answer.by != "an earlier answer") tell_of(answer);
            if (answer.decision == Decision::Infeasible) {
                ++frontier_.refuted;
            } else if (answer.decision == Decision::Undecided) {
                proven = false;
                frontier_.undecided.push_back(std::move(answer));
            } else {
                frontier_.points.push_back({std::move(answer), proven});
                return;
            }
        }
    }

    void tell(const std::string& line) const {
        if (request_.story) request_.story(line);
    }

    void tell_of(const PointAnswer& answer) const {
        if (!request_.story) return;
        tell(story_line(answer));
    }

    const ParetoRequest& request_;
    StepOracle oracle_;
    Frontier frontier_;
    std::int64_t most_rounds_ = 0;
};

}  // namespace

Frontier pareto(const StepProblem& problem, const ParetoRequest& request) {
    const auto begin = Stop::Clock::now();
    Frontier frontier = ParetoSearch(problem, request).run();
    frontier.seconds = seconds_since(begin);
    return frontier;
}

}  // namespace tutti::models
