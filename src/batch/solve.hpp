#pragma once

#include "batch/task.hpp"
#include "io/result_jsonl.hpp"

#include <functional>
#include <optional>
#include <string>

namespace tutti::batch {

/// Who hears of a task while it is at work.
struct TaskListener {
    /// Told the digest of the instance's file, before anything else. May be empty.
    std::function<void(const std::string& digest)> digested{};
    /// Told of better schedules and bounds. May be empty.
    std::function<void(std::optional<Ticks> makespan, std::optional<Ticks> bound)> found{};
};

/// One task, in this process: reads the instance, synthesizes, verifies, writes the schedule below the folder
/// of the results. Whatever goes wrong is in the line; nothing is thrown. Known values are not asked.
[[nodiscard]] io::ResultLine solve(const Task& task, const std::string& results, const Limits& limits,
                                   const TaskListener& listener = {});

}  // namespace tutti::batch
