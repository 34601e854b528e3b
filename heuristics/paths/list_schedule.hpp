#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// Which way every chunk goes, not yet when. The arcs of spread i are begin[i] … begin[i+1]-1: `hops[a]`
/// starts where `parents[a]` ends, or at one of the spread's sources if that is kRoot. Parents are positions
/// in `hops` and come before their children. A plan of paths alone may leave `parents` empty: each arc then
/// follows the one before it, the first starts at a source.
///
/// Arcs leave a node that branches as often as they like. A stop that does not branch passes each copy on
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

/// In which order sources take up their chunks, among equally urgent ones.
enum class Turns : std::uint8_t {
    Random,
    /// By how far the number of the (first) target is above that of the source, round and round: sources then
    /// turn to different targets at any time, as in the rounds of a tournament. Perfect on crossbars.
    Shifted,
};

struct ListOptions {
    Urgency urgency = Urgency::FarthestFirst;
    Turns turns = Turns::Random;
    /// So many transfers of equal urgency are compared, and the one goes first whose next link has most left
    /// to carry that is not yet on its way to it. Keeps the ports behind a switch equally busy. 0: none.
    unsigned look = 0;
    unsigned jitter = 0;  ///< urgencies are raised by up to so many percent, drawn at random
    std::uint64_t seed = 0;
};

/// Starts for all arcs of the plan: whenever a link is free, the most urgent of the transfers that wait for
/// it starts. None only if `stop` came first. With rigid hops, or links booked before, by way of the calendar
/// and slower. O(arcs) time, and 32 bytes per arc.
[[nodiscard]] std::optional<SpreadSolution> list_schedule(const SpreadProblem& problem, const TreePlan& plan,
                                                          const ListOptions& options, const Stop& stop);

/// The starts by arc, to be improved further (justification). Only for hops of one link and an empty
/// calendar: none otherwise, or if `stop` came first.
[[nodiscard]] std::optional<std::vector<Ticks>> list_starts(const SpreadProblem& problem,
                                                            const TreePlan& plan, const ListOptions& options,
                                                            const Stop& stop);

/// The transfers of a plan whose arcs start at these times.
[[nodiscard]] SpreadSolution solution_of(const SpreadProblem& problem, const TreePlan& plan,
                                         std::span<const Ticks> starts);

/// How long each link is busy if the plan is carried out: no schedule of it is shorter than the largest.
[[nodiscard]] std::vector<Ticks> link_loads(const SpreadProblem& problem, const TreePlan& plan);

}  // namespace tutti::heuristics
