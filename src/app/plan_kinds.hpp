#pragma once

#include "app/sniff.hpp"
#include "io/source.hpp"
#include "plan/epoch_schedule.hpp"
#include "plan/execution_plan.hpp"
#include "plan/forestcoll_plan.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "plan/sccl_plan.hpp"
#include "plan/tacos_plan.hpp"
#include "timing/plan_timing.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tutti::app {

/// A plan of any supported tool. Each alternative has its own verify::verify(plan, reading).
using AnyPlan = std::variant<plan::MscclPlan, plan::ExecutionPlan, plan::ScclPlan, plan::TacosPlan,
                             plan::ForestCollPlan, plan::EpochSchedule>;

/// A format that `tutti verify` judges. A new one is a row of the table, and an alternative of AnyPlan where
/// its model is new.
struct PlanKind {
    std::string_view format;  ///< as machines call it: "msccl-xml"
    std::string_view label;   ///< as people do: "MSCCL XML"
    std::string_view syntax;  ///< the code of errors that have none: "xml", "json"
    bool (*matches)(const Sniffed& sniffed);
    AnyPlan (*read)(io::Source& source);
};

/// The first row that matches; nullptr where the file is no plan.
[[nodiscard]] const PlanKind* plan_kind(const Sniffed& sniffed);
/// "MSCCL XML, MSCCL++ JSON": for messages.
[[nodiscard]] std::string plan_kind_labels();
[[nodiscard]] std::string_view label_of_format(std::string_view format);

[[nodiscard]] plan::PlanVerdict judge(const AnyPlan& plan, const verify::PlanReading& reading);

/// The plan for timing; nothing where its kind cannot be timed.
using TimedPlan = decltype(timing::TimedJob::plan);
[[nodiscard]] std::optional<TimedPlan> timed(const AnyPlan& plan);

}  // namespace tutti::app
