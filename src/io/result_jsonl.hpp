#pragma once

#include "core/bound.hpp"
#include "core/candidate.hpp"
#include "core/collective_result.hpp"
#include "core/outcome.hpp"
#include "io/json_view.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::io {

/// Why a line has no verified schedule.
enum class Failure {
    None,
    Input,          ///< the instance cannot be read, or the method is not for it
    Infeasible,     ///< a receiver cannot be reached
    Limit,          ///< the search ended, by itself or its time, without a schedule
    Time,           ///< it did not stop when its time was over, and was killed
    Memory,         ///< it took more than it may, and was killed
    Crash,          ///< it died of a signal, or left without a word
    Bug,            ///< an error of ours, which was noticed
    Lost,           ///< somebody killed its process, or none could be started
    Contradiction,  ///< a .solu file knows it better
    Output,         ///< its schedule could not be written
};

/// "crash" and so on; "none" has no name in a line.
[[nodiscard]] std::string_view name_of(Failure failure);

/// The result for one instance: the object that `synth --json` prints, and a line of results.jsonl.
/// results/README.md describes each field.
struct ResultLine {
    std::string instance;
    std::string method;
    Status status = Status::Unknown;
    std::optional<Ticks> makespan;
    std::optional<Ticks> lower_bound;
    std::string bound_kind;
    std::vector<SkippedBound> skipped;  ///< bounds that were not computed, or not to their end
    double seconds = 0;
    std::optional<std::uint64_t> peak_memory_bytes;
    std::uint64_t sends = 0;
    bool verified = false;
    std::uint64_t seed = 0;
    std::string schedule;  ///< the path; empty where none was written
    std::string file;      ///< where the instance came from
    bool stopped = false;  ///< the time limit or an interrupt ended the search
    std::string proof;     ///< why it is optimal, or why that is not known; a sentence
    std::optional<Ticks>
        composed;           ///< of an all-reduce: the proven optimum as reduce-scatter, then all-gather
    std::string error;      ///< why there is no schedule; empty where there is one
    std::string heuristic;  ///< which one made the schedule; empty where none did
    std::vector<Candidate> candidates;      ///< what each heuristic reached that had a turn
    std::map<std::string, double> options;  ///< search options that are not as usual
    std::map<std::string, std::string> solver_versions;

    // The task: the same in every run of it.
    std::string key;              ///< names the task within its run
    std::string label;            ///< family and name of the instance: "ring/a"
    std::string digest;           ///< of the instance's file, by which a changed one is noticed
    std::string asked;            ///< the method asked for; `method` is what made the schedule
    std::string asked_heuristic;  ///< the one that was to run alone, or empty
    std::optional<std::uint64_t> asked_chunks, asked_bytes;  ///< in place of what the file says
    std::uint32_t threads = 1;
    std::optional<double> time_limit;  ///< seconds

    // Sizes of the instance.
    std::string collective;  ///< the kind of its collectives, or "mixed"
    std::uint64_t npus = 0, nodes = 0, links = 0;
    std::uint64_t groups = 0;  ///< that communicate
    std::uint64_t ranks = 0;   ///< of a group; 0 where groups differ
    std::uint64_t chunks = 0;  ///< to be routed, all together
    std::string units;         ///< "abstract" or "physical"
    /// The size of a call as nccl-tests has it, where the collectives are of one kind and size.
    std::optional<std::uint64_t> bytes;
    std::optional<double> algbw_GBps, busbw_GBps;  ///< bytes over makespan; times nccl-tests' factor
    std::vector<CollectiveResult> collectives;     ///< each for itself; empty where there is no schedule

    Failure failure = Failure::None;
    std::string finished;  ///< UTC, "2026-11-16T17:40:00Z"
    std::string host;

    /// Computed from makespan and bound: written to files but never read back.
    [[nodiscard]] std::optional<double> gap() const;
    friend bool operator==(const ResultLine&, const ResultLine&) = default;
};

/// All keys of results/README.md, null where there is no value; "error", "options", "asked_heuristic"
/// and "solver_versions" only where there is one; what a run adds only in lines that have a key; the instance
/// in numbers there, and wherever it was read.
[[nodiscard]] Json result_json(const ResultLine& result);
/// Unknown fields are skipped: later versions write more. Throws InputError.
[[nodiscard]] ResultLine parse_result(const Json& json);

/// Appends lines to a results.jsonl. A line is complete in the file when append() returns, so a killed run
/// loses only the unfinished instances. It is on the disk when sync() returns.
class ResultJournal {
  public:
    /// Appends to an existing file; half a line left by a killed run is removed first. All functions throw
    /// OutputError.
    explicit ResultJournal(const std::string& path);
    ResultJournal(const ResultJournal&) = delete;
    ResultJournal& operator=(const ResultJournal&) = delete;
    ~ResultJournal();

    void append(const ResultLine& result);
    void sync();

  private:
    void write(std::string_view text);
    void end_last_line();
    [[noreturn]] void fail() const;  ///< with errno

    std::string path_;
    int descriptor_ = -1;
};

/// The lines of a journal. An unfinished last line (of a killed run) is skipped. Any other unreadable line is
/// an InputError, or counted in `damaged` and skipped if that is given.
[[nodiscard]] std::vector<ResultLine> read_results(const std::string& path, std::size_t* damaged = nullptr);

}  // namespace tutti::io
