#pragma once

#include "models/backends/registry.hpp"
#include "models/encode/step.hpp"
#include "models/step_bounds.hpp"
#include "models/step_symmetry.hpp"

#include "core/stop.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti::models {

enum class Decision { Feasible, Infeasible, Undecided };

/// The answer to "is there an algorithm of S steps, R rounds, C chunks?".
struct PointAnswer {
    StepPoint point;
    Decision decision = Decision::Undecided;
    std::string by;     ///< "distance", "cut", "an earlier answer", or a solver with its version
    std::string words;  ///< the argument, where there is one to be read
    double seconds = 0;
    StepPlan plan;  ///< when feasible
};

/// "S=3 R=4 C=3: infeasible (cut: …), 0.012 s".
[[nodiscard]] std::string story_line(const PointAnswer& answer);

struct ParetoRequest {
    std::optional<int> max_steps;
    std::optional<int> max_chunks;  ///< else default_max_chunks
    std::optional<int> max_rounds;
    std::optional<int> k;  ///< SCCL's: only algorithms with R <= S + k
    std::string backend = "auto";
    std::optional<double> seconds;  ///< for everything; a question gets a quarter of what remains
    bool one_question = false;      ///< a question may take all of the time
    const std::atomic<bool>* interrupted = nullptr;
    unsigned threads = 1;
    std::uint64_t seed = 1;
    /// Called with one line of progress at a time. May be empty.
    std::function<void(const std::string&)> story;
};

/// Answers questions about one problem: by its bounds, by what earlier answers imply, else by a solver.
/// What is feasible stays so with more rounds, fewer chunks, more steps (as long as R >= S), and with rounds
/// and chunks both multiplied; so an answer "no" settles many more.
class StepOracle {
  public:
    /// Throws LimitError when the backend asked for is not there; "auto" without any is refused at the first
    /// question that needs one. The problem must outlive the oracle, and keep StepBounds' preconditions.
    StepOracle(const StepProblem& problem, const ParetoRequest& request);

    [[nodiscard]] PointAnswer ask(const StepPoint& point);
    [[nodiscard]] const StepBounds& bounds() const { return bounds_; }
    /// Whether the time is up, or the user interrupted.
    [[nodiscard]] bool stopped() const { return stop_.requested(); }

  private:
    [[nodiscard]] bool implied_infeasible(const StepPoint& point) const;
    [[nodiscard]] Stop next_stop(bool symmetric) const;
    void solve(PointAnswer& answer);

    const StepProblem& problem_;
    const ParetoRequest& request_;
    StepBounds bounds_;
    std::vector<StepSymmetry> symmetries_;  ///< a group that moves every node
    std::unique_ptr<Backend> backend_;
    std::string solver_, absence_;
    Stop::Clock::time_point begin_ = Stop::Clock::now();
    Stop stop_;
    std::vector<StepPoint> infeasible_;
};

/// A point of the frontier: no algorithm within the limits has as few steps and a smaller R/C, or the same
/// R/C and fewer steps, if `proven`.
struct FrontierPoint {
    PointAnswer answer;
    bool proven = true;  ///< every better point was refuted; else some stayed undecided
    [[nodiscard]] Ratio ratio() const { return Ratio::of(answer.point.rounds, answer.point.chunks); }
};

/// Why the search ended.
enum class ParetoEnd { LeastRatio, ChunksExhausted, StepsExhausted, Stopped };

struct Frontier {
    std::vector<FrontierPoint> points;   ///< by steps; R/C falls
    std::vector<PointAnswer> undecided;  ///< would be better than a point of the frontier, if feasible
    ParetoEnd end = ParetoEnd::Stopped;
    int fewest_steps = 0;
    Ratio least_ratio;  ///< the lower bound of R/C
    int max_chunks = 0;
    std::size_t refuted = 0;  ///< how many points were
    double seconds = 0;
    [[nodiscard]] bool complete() const { return end != ParetoEnd::Stopped && undecided.empty(); }
};

/// Enough chunks to meet the bound on R/C, where that is not too many.
[[nodiscard]] int default_max_chunks(Ratio least_ratio);

/// Increases S from the distance bound; for each S, candidates (R, C) in order of R/C until one is feasible.
/// Ends when R/C meets its lower bound, or when no (R, C) with at most max_chunks chunks is left: since R >=
/// S, that happens after finitely many steps.
[[nodiscard]] Frontier pareto(const StepProblem& problem, const ParetoRequest& request);

}  // namespace tutti::models
