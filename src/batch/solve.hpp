#pragma once

#include "batch/task.hpp"
#include "io/result_jsonl.hpp"

#include <functional>
#include <optional>
#include <string>

namespace tutti::batch {

/// Told of better schedules and bounds while a task is at work.
using OnFound = std::function<void(std::optional<Ticks> makespan, std::optional<Ticks> bound)>;

/// One task, in this process: reads the instance, synthesizes, verifies, writes the schedule below the folder
/// of the results. Whatever goes wrong is in the line; nothing is thrown. Known values are not asked.
[[nodiscard]] io::ResultLine solve(const Task& task, const std::string& results, const Limits& limits,
                                   const OnFound& found = {});

}  // namespace tutti::batch
