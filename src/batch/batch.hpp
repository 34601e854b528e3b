#pragma once

#include "batch/executor.hpp"
#include "batch/plan.hpp"
#include "batch/progress.hpp"
#include "batch/run_file.hpp"
#include "io/result_jsonl.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace tutti::batch {

struct Settings {
    std::string results{};  ///< the folder of the run; made if need be, and nothing in it is deleted
    RunFile run{};          ///< stored in the folder, so that it can go on by itself
    bool resume = false;    ///< go on with what is in the folder
    bool retry_failed = false;
    bool collect = false;  ///< with resume: take what is there, do nothing that is missing
    bool update_solu = false;
    const std::atomic<bool>* interrupted = nullptr;    ///< raised to end the run early; may be null
    std::function<void(const std::string&)> remark{};  ///< gets messages for people, before the work

    [[nodiscard]] bool is_interrupted() const { return interrupted != nullptr && interrupted->load(); }
};

/// What became of one task.
struct Row {
    std::size_t number = 0;  ///< of the task, in its plan
    std::string name{};      ///< for people
    io::ResultLine line{};
    /// There is an error. Infeasibility is none where a .solu file says so too.
    bool failed = false;
};

struct Outcome {
    std::vector<Row> rows{};  ///< in the order of the tasks; those that were left out are missing
    std::size_t planned = 0;  ///< the number of tasks
    bool unplanned = false;   ///< it was interrupted before that number was known, and wrote nothing
    std::size_t kept = 0;     ///< of those rows, how many are of an earlier run
    double seconds = 0;
    std::vector<std::string> news{};      ///< what the .solu files do not know yet, a sentence each
    std::vector<std::string> problems{};  ///< what besides tasks went wrong, a sentence each
    bool collected = false;               ///< what is missing was not to be done (Settings::collect)
    std::string cut_short{};              ///< why the run ended early: results could not be written

    [[nodiscard]] bool complete() const { return !unplanned && rows.size() == planned; }
    [[nodiscard]] std::size_t failures() const;
};

/// Has the executor do the tasks and writes, below settings.results: results.jsonl (a line as soon as there
/// is one, on the disk before the next is waited for), run.json and table.txt; the executor writes the
/// schedules. A task that fails is a row, not an exception. InputError means that the folder cannot be used
/// or a .solu that was named cannot be read. If it is only later that nothing more can be written, the
/// outcome has what was done by then.
///
/// With settings.resume, tasks are not done again that have a line in results.jsonl with their key and the
/// digest of their file (unless it failed and settings.retry_failed). Without it the earlier results.jsonl is
/// put aside as results.jsonl.old. Rows that single tasks left in the folder count like lines, and what other
/// processes are running meanwhile is waited for, not done twice.
[[nodiscard]] Outcome run(const Plan& plan, const Settings& settings, Executor& executor,
                          const ProgressView& view);

/// How many tasks a list has.
struct Listed {
    std::size_t tasks = 0;
    std::size_t kept = 0;  ///< of those, how many are done and were not told
    bool interrupted = false;
};

/// Prepares the folder as run() does, so that each task can be run by a command of its own (single_task), and
/// tells the key of every task that is to be done. A later run() with settings.resume takes the rows that
/// they leave. `tell` says false to hear no more.
[[nodiscard]] Listed list_tasks(const Plan& plan, const Settings& settings,
                                const std::function<bool(const std::string& key)>& tell);

}  // namespace tutti::batch
