// Which rules suit a network can only be found by trying them. First every variant runs once. With links of
// different speeds the end of the run is the weak point: slow links take chunks that fast ones would deliver
// sooner. A deadline forbids that. The right deadline is the makespan itself, which is not known: so the best
// variants run with deadlines between a lower estimate of the makespan and the best found.

#include "heuristics/flood/flood_search.hpp"

#include "heuristics/flood/flood_matcher.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

class FloodSearch {
  public:
    FloodSearch(const SpreadProblem& problem, Rng& rng, const Stop& stop)
        : problem_(problem), rng_(rng), stop_(stop), matcher_(problem) {
        for (const FloodOptions& options : matcher_.variants()) entries_.push_back({options, Ticks::max()});
    }

    std::optional<SpreadSolution> run(std::size_t runs) {
        for (std::size_t i = 0; i < runs && !entries_.empty() && !is_done(); ++i) {
            if (i < entries_.size()) {
                attempt(entries_[i], Ticks(0));
                continue;
            }
            if (i == entries_.size()) std::ranges::stable_sort(entries_, {}, &Entry::makespan);
            const std::size_t turn = i - entries_.size();
            const std::size_t finalists =
                std::min<std::size_t>(problem_.options.matching_finalists, entries_.size());
            attempt(entries_[turn % finalists], deadline(turn / finalists));
        }
        return std::move(best_);
    }

  private:
    struct Entry {
        FloodOptions options;
        Ticks makespan;
    };

    [[nodiscard]] bool is_done() const {
        return stop_.requested() || (best_ && best_->makespan <= problem_.target);
    }

    /// The lower estimate first, then half way, just below the best, and none.
    [[nodiscard]] Ticks deadline(std::size_t round) const {
        if (!matcher_.has_several_speeds() || !best_) return Ticks(0);
        const std::int64_t least = std::min(matcher_.least(), best_->makespan).count();
        const std::int64_t room = best_->makespan.count() - least;
        switch (round % 4) {
            case 0:
                return Ticks(round == 0 ? least : least + room / 4);
            case 1:
                return Ticks(least + room / 2);
            case 2:
                return Ticks(least + room - 1);
            default:
                return Ticks(0);
        }
    }

    void attempt(Entry& entry, Ticks deadline) {
        FloodOptions options = entry.options;
        options.deadline = deadline;
        auto solution = matcher_.run(options, rng_, stop_);
        if (!solution) return;
        entry.makespan = std::min(entry.makespan, solution->makespan);
        if (!best_ || solution->makespan < best_->makespan) best_ = std::move(solution);
    }

    const SpreadProblem& problem_;
    Rng& rng_;
    const Stop& stop_;
    FloodMatcher matcher_;
    std::vector<Entry> entries_;
    std::optional<SpreadSolution> best_;
};

}  // namespace

std::optional<SpreadSolution> flood_search(const SpreadProblem& problem, Rng& rng, const Stop& stop,
                                           std::size_t runs) {
    if (!problem.graph.is_direct()) return std::nullopt;
    return FloodSearch(problem, rng, stop).run(runs);
}

std::string why_no_flood(const SpreadProblem& problem) {
    return problem.graph.is_direct() ? "" : "the network has switches";
}

}  // namespace tutti::heuristics
