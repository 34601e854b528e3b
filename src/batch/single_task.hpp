#pragma once

#include "batch/task_listener.hpp"
#include "core/stop.hpp"

#include <optional>
#include <string>

namespace tutti::batch {

/// What became of one task of a results folder.
struct SingleTask {
    /// Its row, which is on the disk; none: the task was interrupted.
    std::optional<io::ResultLine> line{};
    bool was_done = false;  ///< an earlier process had left the row
    bool is_final = true;   ///< the next try would do nothing, or fail in the same way
};

/// Does the task of that key, as the list in the folder has it, in a child with its limits, and leaves its
/// row in a file of its own (row_files). Any number of processes may do so at once, also with the same key:
/// one of them does the task, the others wait for it. A task whose row is there is not done again, unless its
/// instance has changed or what went wrong may go well now. Throws InputError where there is no such task,
/// OutputError where its row cannot be written. The process must have one thread.
[[nodiscard]] SingleTask run_single_task(const std::string& results, const std::string& key, const Work& work,
                                         const Stop& stop);

}  // namespace tutti::batch
