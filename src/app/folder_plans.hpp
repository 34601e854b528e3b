#pragma once

#include "app/convert_options.hpp"
#include "app/plan_formats.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <string>
#include <vector>

namespace tutti::app {

/// An instance and its schedule, of which collectives shall become plans of a folder.
struct FolderJob {
    std::string instance_file{}, schedule_file{};
    Instance instance;
    Schedule schedule{};
};

/// A collective that a plan of a folder serves.
struct ServedCollective {
    const FolderJob* job = nullptr;
    CollectiveId collective{};
    std::vector<NodeId> npus{};  ///< by rank of the plan, relays too
};

struct FolderPlan {
    std::string file{};  ///< its name, by which runtimes choose; other plans of the folder may have it too
    MadePlan plan{};
    std::vector<ServedCollective> serves{};  ///< those that have the very same plan
};

/// The plans of all collectives that the options ask for, those of several groups shared where they are the
/// same. Plans that have one file name serve groups without a common NPU. Throws InputError where a runtime
/// could not tell two plans of an NPU apart. The jobs must outlive the result.
[[nodiscard]] std::vector<FolderPlan> folder_plans(const std::vector<FolderJob>& jobs,
                                                   const ConvertOptions& options);

/// Whose names and limits count in a folder: all of its plans are for one runtime.
[[nodiscard]] plan::Target folder_target(const ConvertOptions& options);

}  // namespace tutti::app
