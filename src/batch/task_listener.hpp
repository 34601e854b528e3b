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

/// Does one task in this process, below the folder of the results. Whatever goes wrong is in the line;
/// nothing is thrown. app::solve is the one that synthesizes.
using Work = std::function<io::ResultLine(const Task&, const std::string& results, const Limits&,
                                          const TaskListener&)>;

}  // namespace tutti::batch
