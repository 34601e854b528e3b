#pragma once

#include "run/executable.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::run {

/// A task, and one of another stream or its own that it comes after. Both are numbers of tasks.
struct TaskOrder {
    std::uint32_t before = 0, after = 0;
    friend auto operator<=>(const TaskOrder&, const TaskOrder&) = default;
};

/// Writes the waits of all tasks. What an earlier task of the same stream waits for is not repeated. Throws
/// LimitError if they are too many.
void set_waits(Executable& executable, std::vector<TaskOrder> orders);

/// The same from what tasks read and write: each comes after whoever wrote last what it reads or writes, and
/// after those that read since what it writes. All that leads forward in the order of tasks.
void set_data_waits(Executable& executable);

}  // namespace tutti::run
