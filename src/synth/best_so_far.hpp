#pragma once

#include "core/verdict.hpp"
#include "synth/synthesize.hpp"

#include <chrono>

namespace tutti::synth {

/// The best schedule and bound of a synthesis so far. Only what is verified gets in, and whoever listens to
/// the request (story, found) is told of it.
class BestSoFar {
  public:
    /// Both must outlive this.
    BestSoFar(const Instance& instance, const Request& request) : instance_(instance), request_(request) {}

    /// What is judged by: as given.
    [[nodiscard]] const Instance& instance() const { return instance_; }
    [[nodiscard]] const Result& result() const { return result_; }
    [[nodiscard]] bool has_schedule() const { return !result_.method.empty(); }
    [[nodiscard]] Ticks makespan() const { return result_.schedule.makespan; }
    [[nodiscard]] const Bound& bound() const { return result_.bound; }
    /// Whether there is a schedule that does not meet the bound. Precondition: has_schedule().
    [[nodiscard]] bool has_gap() const { return makespan() > bound().value; }
    /// Whether there is no schedule yet, or one that does not meet the bound.
    [[nodiscard]] bool wants_better() const { return !has_schedule() || has_gap(); }
    [[nodiscard]] bool is_improved_by(Ticks makespan) const {
        return !has_schedule() || makespan < this->makespan();
    }
    [[nodiscard]] double relative_gap() const;
    /// Since the beginning.
    [[nodiscard]] double seconds() const;

    void tell(const std::string& line) const;
    /// Takes the bound if it is larger. Precondition: its certificate was checked (Bounding does).
    void raise(Bound bound);
    /// The same without a word: a solver's proof, or a better certificate of the same value.
    void replace_bound(Bound bound) { result_.bound = std::move(bound); }
    /// Verifies the schedule and takes it if it is shorter; `heuristic` made it, if one did. Returns whether
    /// it was taken.
    bool offer(Schedule schedule, const std::string& who, std::string_view heuristic = {});
    /// Takes a schedule that was verified but is not held in memory.
    void take_unheld(const Verdict& verdict, const std::string& who, std::string_view heuristic,
                     std::optional<symmetry::SymmetricSchedule> symmetric = {});

    void enter(std::vector<Candidate> candidates);
    void conclude(std::string proof) { result_.proof = std::move(proof); }
    void set_composed(Ticks makespan) { result_.composed = makespan; }
    void set_solver_versions(std::map<std::string, std::string> versions);

    /// The result, with its status; this is empty afterwards. `stopped`: a longer search may find more.
    [[nodiscard]] Result take(std::vector<SkippedBound> skipped, bool stopped);

  private:
    void report() const;

    const Instance& instance_;
    const Request& request_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    Result result_;
};

}  // namespace tutti::synth
