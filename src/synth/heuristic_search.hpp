#pragma once

#include "heuristics/greedy.hpp"
#include "heuristics/heuristic.hpp"
#include "heuristics/levels/message_orders.hpp"
#include "synth/best_so_far.hpp"
#include "synth/bounding.hpp"

#include <memory>

namespace tutti::synth {

/// What heuristics make of a whole instance: those that the request names, or all in turn, the fast ones
/// first, until one meets the bound.
class HeuristicSearch {
  public:
    /// All must outlive this.
    HeuristicSearch(const Instance& instance, const Request& request, const Stop& stop, BestSoFar& best,
                    Bounding& bounding);

    /// The first schedule. Throws LimitError if there is none.
    void search_quickly();
    /// Goes on until the time limit; without one it does nothing.
    void search_until_stopped();
    /// Whether the schedule has more sends than are held in memory.
    [[nodiscard]] bool is_too_large_to_hold() const { return sends_wanted_ > kMostSendsHeld; }
    /// Whether the request names a heuristic.
    [[nodiscard]] bool has_one_alone() const { return alone_ != nullptr; }

  private:
    template <class How>
    [[nodiscard]] bool is_alone() const {
        return alone_ != nullptr && alone_->as<How>() != nullptr;
    }
    /// Whether this kind has a turn, and the one that runs alone is not of another.
    template <class How>
    [[nodiscard]] bool has_turn() const {
        return alone_ == nullptr || is_alone<How>();
    }
    [[nodiscard]] bool is_over_for_one_alone() const;

    [[nodiscard]] bool search_by_symmetry(std::uint64_t effort, const Stop& stop);
    [[nodiscard]] bool search_by_symmetric_trees(std::uint64_t effort, const Stop& stop);
    enum class Offer { NotTaken, Taken, TakenUnheld };
    [[nodiscard]] Offer offer_symmetric(std::string_view heuristic, double begin,
                                        std::optional<symmetry::SymmetricSchedule> schedule);
    [[nodiscard]] bool search_in_lockstep();
    [[nodiscard]] bool search_by_streamed_paths();
    [[nodiscard]] bool search_by_rings();
    [[nodiscard]] bool search_by_levels();
    void construct();
    void construct_by(const heuristics::Heuristic& heuristic, const heuristics::DirectHeuristic& direct);
    void search_by_textbook();
    void finish_textbook(double share);
    void run_textbook(const std::vector<const heuristics::Heuristic*>& chosen, const Stop& stop,
                      bool is_in_order);
    void improve_trees();
    void improve_broadcasts();
    void improve_orders(std::uint64_t work);
    void offer_improved(std::string_view heuristic, std::string_view line, double begin, Schedule schedule);
    void search_greedily(heuristics::Effort effort);

    [[nodiscard]] std::optional<Ticks> least_composition() const;
    template <class Source>
    void take_streamed(Source& made, std::string_view heuristic, double begin);
    [[nodiscard]] Candidate offered(std::string_view heuristic, double begin,
                                    std::optional<Schedule> schedule, std::string why_none);
    [[nodiscard]] std::string why_nothing() const;
    [[nodiscard]] bool is_time_short() const;
    [[nodiscard]] Stop stop_of(heuristics::Effort effort) const;

    const Instance& instance_;
    const Request& request_;
    const SearchOptions& options_;
    const heuristics::Heuristic* const alone_;  ///< the one that is asked for, or null
    const Stop stop_;
    const std::uint64_t sends_wanted_;
    BestSoFar& best_;
    Bounding& bounding_;
    std::unique_ptr<heuristics::MessageOrders> orders_;  ///< made when it is needed
    bool has_symmetry_ = false;
    bool has_tried_textbook_ = false;
    std::vector<const heuristics::Heuristic*> unfinished_;  ///< textbook algorithms that were stopped
};

}  // namespace tutti::synth
