#pragma once

#include "heuristics/spread.hpp"

#include <memory>

namespace tutti::heuristics {

/// The path or tree of every chunk, without times. The arcs of spread i are begin[i] … begin[i+1]-1:
/// `hops[a]` starts where `parents[a]` ends, or at one of the spread's sources if that is kRoot. Parents are
/// positions in `hops` and come before their children. A plan of paths only may leave `parents` empty: each
/// arc then follows its predecessor, the first starts at a source.
///
/// A node that branches may have any number of outgoing arcs. A stop that does not branch forwards each copy
/// once: an arc that ends there has exactly one child.
struct TreePlan {
    static constexpr std::uint32_t kRoot = UINT32_MAX;
    std::vector<std::uint32_t> begin{0};
    std::vector<HopId> hops;
    std::vector<std::uint32_t> parents;
};

/// Which of the transfers that wait for a link goes first.
enum class Urgency : std::uint8_t {
    FarthestFirst,   ///< the longest time still to travel, to the farthest leaf below
    LargestSubtree,  ///< the most time on links below it, in all
    InTurn,          ///< what its source takes up first, by Turns::Shifted
};

/// In which order sources send their chunks, among equally urgent ones.
enum class Turns : std::uint8_t {
    Random,
    /// By the number of the (first) target minus that of the source, modulo the NPUs: at any time sources
    /// then send to different targets, as in a round-robin tournament. Perfect on crossbars.
    Shifted,
};

struct ListOptions {
    Urgency urgency = Urgency::FarthestFirst;
    Turns turns = Turns::Random;
    /// How many transfers of equal urgency are compared; the one goes first whose next link has the most load
    /// that is not yet in flight to it. Keeps the ports behind a switch equally busy. 0: none.
    unsigned look = 0;
    unsigned jitter = 0;  ///< urgencies are raised by up to so many percent, drawn at random
    std::uint64_t seed = 0;
};

/// Starts for all arcs of the plan: whenever a link is free, the most urgent of the transfers that wait for
/// it starts. None only if `stop` came first. With rigid hops, or links booked before, it uses the calendar
/// and is slower. O(arcs) time, and 32 bytes per arc.
[[nodiscard]] std::optional<SpreadSolution> list_schedule(const SpreadProblem& problem, const TreePlan& plan,
                                                          const ListOptions& options, const Stop& stop);

/// The same while it is made, tick by tick, and never held: 16 bytes per arc. Only for hops of one link and
/// an empty calendar.
class ListStream {
  public:
    /// All must outlive this.
    ListStream(const SpreadProblem& problem, const TreePlan& plan, const ListOptions& options,
               const Stop& stop);
    ~ListStream();
    /// The transfers of the next tick at which some start, in any order; empty at the end, or after the stop.
    [[nodiscard]] std::span<const Transfer> next();
    /// Whether all have been returned.
    [[nodiscard]] bool is_complete() const;
    /// The last arrival so far.
    [[nodiscard]] Ticks makespan() const;

  private:
    std::unique_ptr<class ListScheduler> scheduler_;
};

/// The starts by arc, to be improved further (justification). Only for hops of one link and an empty
/// calendar: none otherwise, or if `stop` came first.
[[nodiscard]] std::optional<std::vector<Ticks>> list_starts(const SpreadProblem& problem,
                                                            const TreePlan& plan, const ListOptions& options,
                                                            const Stop& stop);

/// The transfers of a plan whose arcs start at these times.
[[nodiscard]] SpreadSolution solution_of(const SpreadProblem& problem, const TreePlan& plan,
                                         std::span<const Ticks> starts);

/// How long each link is busy in the plan: no schedule of it is shorter than the largest.
[[nodiscard]] std::vector<Ticks> link_loads(const SpreadProblem& problem, const TreePlan& plan);

}  // namespace tutti::heuristics
