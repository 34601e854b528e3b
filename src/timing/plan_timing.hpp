#pragma once

#include "core/collective.hpp"
#include "plan/epoch_schedule.hpp"
#include "plan/execution_plan.hpp"
#include "plan/forestcoll_plan.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/sccl_plan.hpp"
#include "plan/tacos_plan.hpp"
#include "timing/simulator.hpp"

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tutti::timing {

/// A route that the caller fixes for a connection: links from the sender's NPU to the receiver's.
struct FixedRoute {
    Rank from{}, to{};
    OptionalId<plan::ChannelId> channel{};  ///< none: every channel
    std::vector<LinkId> links{};
};

/// How a plan is called. docs/plan-costs.md defines the size; it is required where the topology is in
/// physical units and ignored where it is in abstract ones.
struct TimingOptions {
    Bytes bytes{};
    std::vector<NodeId> group{};                  ///< rank r is that NPU; empty: NPUs 0, 1, …
    std::optional<CollectiveKind> goal{};         ///< what the plan is for; none: what it says itself
    std::optional<Rank> root{};                   ///< of a plan of queues that broadcasts; none: rank 0
    std::optional<std::int64_t> fifo_capacity{};  ///< messages of a connection; none: the protocol's
    std::vector<FixedRoute> routes{};
};

/// One of the plans that run at once.
struct TimedJob {
    std::variant<const plan::MscclPlan*, const plan::ExecutionPlan*, const plan::ScclPlan*,
                 const plan::TacosPlan*, const plan::ForestCollPlan*, const plan::EpochSchedule*>
        plan;  ///< never null
    TimingOptions options{};
};

/// The timing of one plan.
struct JobTiming {
    Ticks makespan;  ///< its last arrival
    CollectiveKind goal = CollectiveKind::Custom;
    std::int32_t ranks = 0;
    std::vector<NodeId> group{};
    std::uint64_t chunks = 1;                     ///< that the call's bytes are cut into
    Bytes call{}, chunk{};                        ///< 0 in abstract units
    std::optional<std::int64_t> fifo_capacity{};  ///< none where the format has no FIFOs
    std::uint64_t connections = 0;
    std::uint64_t relayed = 0;  ///< connections whose way leads through other NPUs
    std::uint64_t transfers = 0;
    std::optional<double> algbw_GBps{}, busbw_GBps{};  ///< none in abstract units or if nothing moves
    std::vector<std::string> notes{};
};

struct PlanTiming {
    Ticks makespan;  ///< of all jobs together, all started at tick 0
    std::vector<JobTiming> jobs{};
    std::vector<LinkLoad> links{};
    std::vector<LinkUse> uses{};  ///< where asked for
};

/// Times plans that run at once and share the links. The plans need not have been verified, but must
/// terminate and their sends and receives must match. Throws InputError if they do not, if a group does not
/// fit plan or topology, if a rank cannot reach another that it sends to, or if there are more than kMaxTasks
/// transfers.
[[nodiscard]] PlanTiming time_plans(std::span<const TimedJob> jobs, const Topology& topology,
                                    bool keep_uses = false, const Stop& stop = {});

template <class Plan>
[[nodiscard]] PlanTiming time_plan(const Plan& plan, const Topology& topology,
                                   const TimingOptions& options = {}, const Stop& stop = {}) {
    const TimedJob job{&plan, options};
    return time_plans({&job, 1}, topology, false, stop);
}

}  // namespace tutti::timing
