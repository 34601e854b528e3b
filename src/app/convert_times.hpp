#pragma once

#include "app/plan_formats.hpp"
#include "core/instance.hpp"
#include "core/verdict.hpp"

#include <optional>
#include <span>
#include <string>

namespace tutti::app {

/// A plan made by a conversion; `path` is only a name where nothing was written.
struct WrittenPlan {
    std::string path{};
    MadePlan plan{};
    std::string condition_path{};  ///< empty: no condition was needed
};

/// What a schedule takes, and what its plans take together on the same topology (docs/plan-costs.md).
struct PlanTimes {
    Ticks schedule, plans;
};

/// The time of the schedule's collectives that became plans, and of the plans with chunks of the same sizes.
/// None where the instance says more than plans can (releases, chunks of several sizes), where the plans do
/// not fit the topology, and where there are so many sends that timing them would take long.
[[nodiscard]] std::optional<PlanTimes> times_of(const Instance& instance, const Verdict& verdict,
                                                std::span<const WrittenPlan> plans);

}  // namespace tutti::app
