#pragma once

#include "app/convert.hpp"

#include <vector>

namespace tutti::app {

/// Turns one schedule into plans, one for each collective that the options ask for, and writes them. Nothing
/// is written unless all of them can be made. Precondition: the schedule is valid.
[[nodiscard]] std::vector<WrittenPlan> convert_to_plans(const Instance& instance, const Schedule& schedule,
                                                        const ConvertOptions& options);

/// Writes the traces of all collectives together, PREFIX.0.et and so on. Precondition: the schedule is valid.
[[nodiscard]] WrittenPlan convert_to_chakra(const Instance& instance, const Schedule& schedule,
                                            const std::string& prefix);

/// Writes the sends of all collectives together, as steps. Precondition: the schedule is valid.
[[nodiscard]] WrittenPlan convert_to_steps(const Instance& instance, const Schedule& schedule,
                                           const std::string& path);

/// One of them, with its collective named in what is thrown; a bug of ours carries the instance.
[[nodiscard]] MadePlan make_plan(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                                 const ConvertOptions& options);

/// A folder of plans that a runtime can be pointed at.
[[nodiscard]] Conversion convert_to_folder(const ConvertOptions& options, const Watch& watch);

}  // namespace tutti::app
