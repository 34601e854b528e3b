#pragma once

#include "app/convert_options.hpp"
#include "app/json.hpp"
#include "app/plan_kinds.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::app {

/// A plan that was made from a schedule and judged, but not written yet.
struct MadePlan {
    std::string text{};
    std::string condition{};  ///< the file beside it, with which it can be judged; empty: not needed
    std::string words{};      ///< what it is, for people
    std::string ranks{};      ///< with relays: which NPU is which rank, for people
    io::Json facts{};         ///< the same for machines
    CollectiveId collective{};
    std::optional<AnyPlan> plan{};  ///< where it is one that can be timed
    plan::PlanVerdict verdict{};    ///< on it
    std::vector<NodeId> npus{};     ///< by rank
};

/// A plan format that is written. Each row of the table makes one collective's plan and judges it like plans
/// of other tools. Throws InputError for what the format cannot express, InternalError if the verifier
/// rejects the plan.
struct PlanFormat {
    ConvertFormat format;
    std::string_view name;
    MadePlan (*make)(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                     const ConvertOptions& options);
};
[[nodiscard]] std::span<const PlanFormat> plan_formats();

}  // namespace tutti::app
