#pragma once

#include "batch/expand.hpp"
#include "batch/progress.hpp"
#include "io/result_jsonl.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

struct Settings {
    std::string results{};  ///< the folder of the run; made if need be, and nothing in it is deleted
    std::string method = "auto";
    std::uint64_t seed = 1;
    unsigned threads = 1;                       ///< of each synthesis
    unsigned jobs = 1;                          ///< instances at a time
    std::optional<double> time_limit{};         ///< seconds for each instance
    std::optional<std::size_t> memory_limit{};  ///< bytes, for the whole process
    bool update_solu = false;
    const std::atomic<bool>* interrupted = nullptr;  ///< raised to end the run early; may be null
};

/// What became of one job.
struct Row {
    Job job;
    io::ResultLine line;
    /// There is an error. Infeasibility is none where a .solu file says so too.
    bool failed = false;
};

struct Outcome {
    std::vector<Row> rows{};  ///< in the order of the jobs; those that an interrupt left out are missing
    std::size_t planned = 0;  ///< the number of jobs
    double seconds = 0;

    [[nodiscard]] bool complete() const { return rows.size() == planned; }
    [[nodiscard]] std::size_t failures() const;
};

/// Synthesizes and verifies every job and writes, below settings.results: results.jsonl (a line as soon as
/// there is one; that of an earlier run is replaced), schedules/<family>/<name>.schedule.json and table.txt.
/// A job that fails is a row, not an exception; InputError means that the results cannot be written or a
/// .solu cannot be read.
[[nodiscard]] Outcome run(const std::vector<Job>& jobs, const Settings& settings, const ProgressView& view);

/// One job, without judging it by known values: reads, synthesizes, verifies, writes the schedule.
/// Null when it was interrupted.
[[nodiscard]] std::optional<io::ResultLine> solve(const Job& job, const Settings& settings);

}  // namespace tutti::batch
