#pragma once

#include "batch/task.hpp"
#include "io/result_jsonl.hpp"

namespace tutti::batch {

/// A line that says what was asked, and nothing of an answer.
[[nodiscard]] io::ResultLine line_of(const Task& task, const Limits& limits);

/// What was asked for in a line of an earlier run.
[[nodiscard]] Task task_of(const io::ResultLine& line);

/// The same for a task of which nothing came.
[[nodiscard]] io::ResultLine failed_line(const Task& task, const Limits& limits, io::Failure failure,
                                         const std::string& error);

/// Enters when and where the line was made.
void sign(io::ResultLine& line);

}  // namespace tutti::batch
