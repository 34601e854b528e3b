#pragma once

#include "batch/plan.hpp"

#include <string>

namespace tutti::batch {

/// A task as the list has it, with what else a process needs to run it alone.
struct ListedTask {
    Task task;
    Limits limits;
};

/// Writes tasks/list of a results folder, by which each task of the plan can be found by its key. Throws
/// OutputError. Takes O((jobs + variants) log) and as much room on the disk, whatever their product is.
void write_task_list(const std::string& results, const Plan& plan, const Limits& limits);

/// The task with that key, the path of its instance as seen from here. Reads a few lines of the list, however
/// long it is. Throws InputError where there is no list, or no such task in it.
[[nodiscard]] ListedTask listed_task(const std::string& results, const std::string& key);

}  // namespace tutti::batch
