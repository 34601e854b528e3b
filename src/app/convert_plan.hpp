#pragma once

#include "app/convert.hpp"

#include <vector>

namespace tutti::app {

/// Converts a schedule to plans, one for each collective that the options select, and writes them: all or
/// none. Precondition: the schedule is valid.
[[nodiscard]] std::vector<WrittenPlan> convert_to_plans(const Instance& instance, const Schedule& schedule,
                                                        const ConvertOptions& options);

/// Writes the traces of all collectives together, PREFIX.0.et and so on. Precondition: the schedule is valid.
[[nodiscard]] WrittenPlan convert_to_chakra(const Instance& instance, const Schedule& schedule,
                                            const std::string& prefix);

/// Writes the sends of all collectives together, as steps. Precondition: the schedule is valid.
[[nodiscard]] WrittenPlan convert_to_steps(const Instance& instance, const Schedule& schedule,
                                           const std::string& path);

/// Makes the plan of one collective. Errors name the collective; a bug carries the instance.
[[nodiscard]] MadePlan make_plan(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                                 const ConvertOptions& options);

/// Makes a folder of plans for a runtime.
[[nodiscard]] Conversion convert_to_folder(const ConvertOptions& options, const Watch& watch);

}  // namespace tutti::app
