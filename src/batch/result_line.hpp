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

/// Whether the line answers what the task asks.
[[nodiscard]] bool answers(const io::ResultLine& line, const Task& task);

/// Whether what went wrong then need not go wrong now: the instance could not be read, the schedule not be
/// written, no process be started, or somebody killed it.
[[nodiscard]] bool may_pass(const io::ResultLine& line);

/// Whether a later run need not do the task again: the line answers it, of the same file, for good.
[[nodiscard]] bool settles(const io::ResultLine& line, const Task& task);

/// Calls the file of the line's instance otherwise, also where its error begins with it.
void rename_file(io::ResultLine& line, const std::string& file);

/// Enters when and where the line was made.
void sign(io::ResultLine& line);

}  // namespace tutti::batch
