#pragma once

#include "heuristics/paths/list_schedule.hpp"

#include <string>

namespace tutti::heuristics {

/// For chunks with one target each (all-to-all, scatter, gather, permute): plans a path for each that keeps
/// the load of the fullest link small, then list-schedules them. None if a chunk has several targets that are
/// not sources, or none of its sources reaches the target, or `stop` came first.
[[nodiscard]] std::optional<SpreadSolution> route_paths(const SpreadProblem& problem, Rng& rng,
                                                        const Stop& stop);

/// Why route_paths cannot solve the problem; empty if it may.
[[nodiscard]] std::string why_no_paths(const SpreadProblem& problem);

/// In which order paths are planned.
enum class PlanOrder : std::uint8_t {
    Random,
    Rounds,  ///< by the shift from source to target (Turns::Shifted): loads are even after every round
};

/// Only the plan.
[[nodiscard]] std::optional<TreePlan> plan_paths(const SpreadProblem& problem, PlanOrder order, Rng& rng,
                                                 const Stop& stop);

}  // namespace tutti::heuristics
