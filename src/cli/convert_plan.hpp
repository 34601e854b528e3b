#pragma once

#include "cli/plan_formats.hpp"
#include "cli/run.hpp"
#include "core/verdict.hpp"

#include <vector>

namespace tutti::cli {

/// A file that a conversion wrote, or would have written.
struct WrittenPlan {
    std::string path{};
    MadePlan plan{};
    std::string condition_path{};  ///< empty: no condition was needed
};

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

/// One of them, with its collective named in what is thrown; a bug of ours comes with the instance as a file.
[[nodiscard]] MadePlan make_plan(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                                 const ConvertOptions& options);

/// A folder of plans: `tutti convert … --directory`.
[[nodiscard]] ExitCode convert_to_folder(const ConvertOptions& options, const Process& process);

/// Says why an invalid schedule was not converted.
void report_invalid(const std::string& file, const Verdict& verdict, const Streams& streams);

}  // namespace tutti::cli
