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
};

struct ListOptions {
    Urgency urgency = Urgency::FarthestFirst;
    unsigned jitter = 0;  ///< urgencies are raised by up to so many percent, drawn at random
    std::uint64_t seed = 0;
};

/// Starts for all arcs of the plan: whenever a link is free, the most urgent of the transfers that wait for
/// it starts. None only if `stop` came first. With rigid hops, or links booked before, by way of the calendar
/// and slower. O(arcs) time, and 32 bytes per arc.
[[nodiscard]] std::optional<SpreadSolution> list_schedule(const SpreadProblem& problem, const TreePlan& plan,
                                                          const ListOptions& options, const Stop& stop);

/// How long each link is busy if the plan is carried out: no schedule of it is shorter than the largest.
[[nodiscard]] std::vector<Ticks> link_loads(const SpreadProblem& problem, const TreePlan& plan);

}  // namespace tutti::heuristics
