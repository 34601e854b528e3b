#pragma once

#include "app/judge_options.hpp"
#include "app/plan_cost.hpp"
#include "app/plan_judge.hpp"
#include "core/topology.hpp"

#include <optional>
#include <span>

namespace tutti::app {

/// The network that plans are timed on, and the size of the call.
struct PlanNetwork {
    Topology topology;
    Bytes bytes{};               ///< 0 where the topology is in abstract ticks
    std::vector<Bytes> sizes{};  ///< where plans are to be compared at several: ascending; then `bytes` is 0
};

/// The NPUs of a file's ranks, by its position among the files; empty where the options name none.
[[nodiscard]] std::span<const std::int32_t> group_of(const PlanOptions& options, std::size_t file);

/// The network of the options; nothing where they name no topology. Reads the file. Throws InputError, also
/// where a group names an NPU that the topology does not have.
[[nodiscard]] std::optional<PlanNetwork> network_of(const PlanOptions& options);

/// Times a plan that was judged acceptable, and stores the cost in it, or why there is none. Precondition: it
/// has its plan. Throws LimitError when stopped.
void time_plan(JudgedPlan& judged, const PlanNetwork& network, std::span<const std::int32_t> group,
               const Stop& stop);

/// Times it at each of the network's sizes. `known`: as of cost_of.
void time_at_sizes(JudgedPlan& judged, const PlanNetwork& network, std::span<const std::int32_t> group,
                   const Stop& stop, KnownBounds* known = nullptr);

/// What it takes at a size, without a bound. Precondition: it could be timed at another one. Throws
/// InputError where it cannot be at this one, LimitError when stopped.
[[nodiscard]] Ticks makespan_of(const JudgedPlan& judged, const PlanNetwork& network, Bytes bytes,
                                std::span<const std::int32_t> group, const Stop& stop);

/// The same for plans that run at once. Throws InputError where they cannot be timed.
[[nodiscard]] PlanCost time_together(std::span<const JudgedPlan> judged, const PlanNetwork& network,
                                     const std::vector<std::vector<std::int32_t>>& groups, const Stop& stop);

}  // namespace tutti::app
