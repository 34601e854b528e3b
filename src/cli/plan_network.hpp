#pragma once

#include "cli/options.hpp"
#include "cli/plan_cost.hpp"
#include "cli/plan_judge.hpp"
#include "core/topology.hpp"

#include <optional>
#include <span>

namespace tutti::cli {

/// The network that plans are timed on, and the size of the call.
struct PlanNetwork {
    Topology topology;
    Bytes bytes{};  ///< 0 where the topology is in abstract ticks
};

/// As the options say; nothing where they name no topology. Reads the file: throws InputError.
[[nodiscard]] std::optional<PlanNetwork> network_of(const PlanOptions& options);

/// Times a plan that was judged acceptable, and keeps in it what came out, or why nothing did. Precondition:
/// it has its plan. Throws LimitError when stopped.
void time_plan(JudgedPlan& judged, const PlanNetwork& network, std::span<const std::int32_t> group,
               const Stop& stop);

/// The same for plans that run at once. Throws InputError where they cannot be timed.
[[nodiscard]] PlanCost time_together(std::span<const JudgedPlan> judged, const PlanNetwork& network,
                                     const std::vector<std::vector<std::int32_t>>& groups, const Stop& stop);

}  // namespace tutti::cli
