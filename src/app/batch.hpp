#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "batch/batch.hpp"
#include "batch/progress.hpp"
#include "batch/single_task.hpp"
#include "batch/summary.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::app {

struct BatchOptions {
    /// The settings of the run; a run file supplies those that are missing here.
    struct Asked {
        std::vector<std::string> paths{};
        std::optional<std::string> set{};  ///< a .test file
        std::vector<std::string> methods{}, heuristics{};
        std::vector<std::pair<std::string, double>> options{};  ///< search options by name
        std::vector<std::uint64_t> chunks{}, seeds{};
        std::vector<std::int64_t> bytes{};
        std::optional<unsigned> threads{}, jobs{};
        std::optional<double> time_limit{};           ///< seconds, for each instance
        std::optional<std::uint64_t> memory_limit{};  ///< bytes, for each instance
        std::optional<std::pair<std::uint64_t, std::uint64_t>> shard{};
        friend bool operator==(const Asked&, const Asked&) = default;
    };
    Asked asked{};
    std::optional<std::string> run{};  ///< a run file
    std::string results{};             ///< a folder, or empty for results/<time>
    bool resume = false;
    bool retry_failed = false;
    bool update_solu = false;
    bool report = true;    ///< make report.html
    bool collect = false;  ///< with resume: take the rows that are there, do nothing that is missing
    friend bool operator==(const BatchOptions&, const BatchOptions&) = default;
};

struct BatchRun {
    batch::Outcome outcome{};
    std::string results{};  ///< the folder
};

/// Solves every instance in a child process of its own and writes results and table. A failure is a row.
/// Throws InputError for options and folders that cannot be used. The process must have one thread.
/// The report is left to write_report(), so that the table can be shown before it.
[[nodiscard]] BatchRun batch(const BatchOptions& options, const batch::ProgressView& progress,
                             const Watch& watch = {});

/// Prepares the folder of the results, and tells the key of each task that is to be done there by run_task()
/// (batch::list_tasks).
[[nodiscard]] batch::Listed list_tasks(const BatchOptions& options,
                                       const std::function<bool(const std::string& key)>& tell,
                                       const Watch& watch = {});

/// Does one of these tasks, in a child process, and leaves its row in the folder (batch::run_single_task).
/// The process must have one thread.
[[nodiscard]] batch::SingleTask run_task(const std::string& results, const std::string& key,
                                         const Watch& watch = {});

/// Makes report.html in the results folder. Errors are reported to the watch, not thrown.
void write_report(const BatchRun& run, const Watch& watch = {});

/// What `tutti batch --json` prints, except the exit code.
[[nodiscard]] io::Json json_of(const BatchRun& run);

}  // namespace tutti::app
