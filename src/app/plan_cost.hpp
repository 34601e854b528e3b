#pragma once

#include "app/json.hpp"
#include "core/bound.hpp"
#include "core/stop.hpp"
#include "plan/condition.hpp"
#include "plan/plan_verdict.hpp"
#include "timing/plan_timing.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tutti::app {

/// The makespan of a plan on a topology, and its gap to the bound (docs/plan-costs.md).
struct PlanCost {
    timing::PlanTiming timing;
    std::optional<Bound> bound{};
    std::optional<double> gap{};          ///< (makespan - bound) / bound
    std::vector<SkippedBound> skipped{};  ///< bounds that were not computed, or not completely
    /// The bound of the same call in chunks that many times smaller, where it was computed.
    struct Finer {
        std::uint64_t times = 1;
        Bound bound;
        double gap = 0;
    };
    std::optional<Finer> finer{};
    std::string no_bound{};             ///< why there is none
    std::vector<std::string> labels{};  ///< of several plans, by job
    std::vector<std::string> notes{};
};

/// A plan, its verdict, and how it is called.
struct CostJob {
    decltype(timing::TimedJob::plan) plan;
    const plan::PlanVerdict& verdict;
    Bytes bytes{};  ///< docs/plan-costs.md says of what; 0 where the topology is in abstract ticks
    std::vector<NodeId> group{};                         ///< rank r is that NPU; empty: NPUs 0, 1, …
    std::shared_ptr<const plan::Condition> condition{};  ///< by which it was judged, if by one
    std::string label{};                                 ///< what it is called among several
};

/// The bounds of one collective among the same NPUs of a network that were computed before: by number and
/// bytes of the chunks that its data is cut into. No plan of the collective has another.
using KnownBounds = std::map<std::pair<std::uint64_t, Bytes>, Bound>;

/// The collective that the verdict is on; Custom where it is none with a name.
[[nodiscard]] CollectiveKind goal_of(const plan::PlanVerdict& verdict);

/// How long plans take that start together and share the links of the topology. What is asked and thrown is
/// as below.
[[nodiscard]] timing::PlanTiming timing_of(std::span<const CostJob> jobs, const Topology& topology,
                                           const Stop& stop = {});

/// The cost of plans that start together and share the links of the topology. The verdicts must be
/// acceptable; one that only holds with deeper FIFOs is timed with those. Throws InputError if a plan does
/// not fit the topology (its message names the ranks), LimitError when stopped, InternalError (with a
/// reproducer) if a makespan is below its bound. `known`, of a plan alone: bounds are taken from there or
/// added, and none is computed for finer chunks.
[[nodiscard]] PlanCost cost_of(std::span<const CostJob> jobs, const Topology& topology, const Stop& stop = {},
                               KnownBounds* known = nullptr);
[[nodiscard]] inline PlanCost cost_of(const CostJob& job, const Topology& topology, const Stop& stop = {},
                                      KnownBounds* known = nullptr) {
    return cost_of({&job, 1}, topology, stop, known);
}

/// The part of the makespan in which the link is busy.
[[nodiscard]] double utilisation(const timing::LinkLoad& load, const timing::PlanTiming& timing);

/// `makespan`, `lower_bound`, `bound_kind`, `gap`, `skipped`, `no_bound`, `algbw_GBps`, `busbw_GBps`,
/// `links`, …; null where there is no value.
[[nodiscard]] io::Json json_of(const PlanCost& cost, const Topology& topology);

}  // namespace tutti::app
