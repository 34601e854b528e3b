#pragma once

#include "core/collective.hpp"
#include "plan/condition.hpp"
#include "plan/epoch_schedule.hpp"
#include "plan/execution_plan.hpp"
#include "plan/forestcoll_plan.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "plan/round_plan.hpp"
#include "plan/sccl_plan.hpp"
#include "plan/tacos_plan.hpp"
#include "plan/target.hpp"

#include <cstddef>
#include <optional>

namespace tutti::verify {

/// How a file is read where producers differ (docs/msccl-xml.md, "Readings").
struct PlanReading {
    enum class Operand { Source, Destination };
    Operand operand = Operand::Source;           ///< the local operand of rrc, rrs, rrcs
    bool copies_first = false;                   ///< <copy> is executed before everything else
    std::optional<CollectiveKind> goal{};        ///< judge as this collective, whatever the file says
    std::optional<Rank> root{};                  ///< searched where not given
    bool strict_dependencies = false;            ///< a dependency must name a step that signals
    bool strict_descriptors = false;             ///< unused address halves of matched steps must agree
    std::optional<plan::Condition> condition{};  ///< a pre- and postcondition from outside
    /// The runtime whose limits are checked: what it would reject or silently ignore becomes a warning.
    std::optional<plan::Target> target{};
    std::size_t max_findings = 20;
};

/// Decides for every interleaving. Time: near-linear in the chunks that all steps touch; memory likewise, and
/// independent of the sizes that the plan declares.
[[nodiscard]] plan::PlanVerdict verify(const plan::MscclPlan& plan, const PlanReading& reading = {});
[[nodiscard]] plan::PlanVerdict verify(const plan::ExecutionPlan& plan, const PlanReading& reading = {});

/// Plans of sends between nodes (docs/step-formats.md). Near-linear in the sends and the contributions of the
/// sums that they make.
[[nodiscard]] plan::PlanVerdict verify(const plan::ScclPlan& plan, const PlanReading& reading = {});
[[nodiscard]] plan::PlanVerdict verify(const plan::TacosPlan& plan, const PlanReading& reading = {});
[[nodiscard]] plan::PlanVerdict verify(const plan::ForestCollPlan& plan, const PlanReading& reading = {});
[[nodiscard]] plan::PlanVerdict verify(const plan::EpochSchedule& schedule, const PlanReading& reading = {});

/// Rounds of messages, which have their condition with them, for every interleaving. Near-linear in the
/// chunks that all steps move.
[[nodiscard]] plan::PlanVerdict verify(const plan::RoundPlan& plan, const PlanReading& reading = {});

}  // namespace tutti::verify
