#include "batch/single_task.hpp"

#include "batch/executor.hpp"
#include "batch/result_line.hpp"
#include "batch/row_files.hpp"
#include "batch/task_list.hpp"
#include "batch/task_locks.hpp"

#include <chrono>
#include <thread>

namespace tutti::batch {
namespace {

constexpr std::chrono::milliseconds kBetweenTaskLooks{50};

/// The line that the child sends, or none when `stop` comes first.
std::optional<io::ResultLine> line_of_child(const ListedTask& listed, const std::string& results,
                                            const Work& work, const Stop& stop) {
    Executor executor({results, listed.limits, listed.task.variant.threads, work});
    executor.begin(0, listed.task);
    while (!stop.requested()) {
        for (TaskEvent& event : executor.wait(kBetweenTaskLooks)) {
            if (event.kind == TaskEvent::Kind::Ended) return std::move(event.line);
        }
    }
    return std::nullopt;
}

}  // namespace

SingleTask run_single_task(const std::string& results, const std::string& key, const Work& work,
                           const Stop& stop) {
    const ListedTask listed = listed_task(results, key);
    const TaskLocks locks(results);
    while (!locks.lock(key)) {
        if (stop.requested()) return {};
        std::this_thread::sleep_for(kBetweenTaskLooks);
    }
    const RowFiles rows(results);
    if (auto row = rows.find(key); row && settles(*row, listed.task)) return {std::move(row), true, true};
    auto line = line_of_child(listed, results, work, stop);
    if (!line) return {};
    rows.write(*line);
    const bool is_final = !may_pass(*line);
    return {std::move(line), false, is_final};
}

}  // namespace tutti::batch
