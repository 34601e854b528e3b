#pragma once

#include "batch/task_listener.hpp"

namespace tutti::app {

/// Runs one task of a batch in this process: reads the instance, synthesizes, verifies, writes the schedule
/// to the results folder. A batch::Work.
[[nodiscard]] io::ResultLine solve(const batch::Task& task, const std::string& results,
                                   const batch::Limits& limits, const batch::TaskListener& listener = {});

}  // namespace tutti::app
