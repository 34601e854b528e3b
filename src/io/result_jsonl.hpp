#pragma once

#include "core/outcome.hpp"
#include "io/json_view.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::io {

/// What became of one instance: the object that `synth --json` prints, and a line of results.jsonl.
struct ResultLine {
    std::string instance;
    std::string method;
    Status status = Status::Unknown;
    std::optional<Ticks> makespan;
    std::optional<Ticks> lower_bound;
    std::string bound_kind;
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
        composed;       ///< of an all-reduce: the proven optimum as reduce-scatter, then all-gather
    std::string error;  ///< why there is no schedule; empty where there is one
    std::map<std::string, std::string> solver_versions;

    /// Follows from makespan and bound, so it is written but never believed.
    [[nodiscard]] std::optional<double> gap() const;
    friend bool operator==(const ResultLine&, const ResultLine&) = default;
};

/// All keys of results/README.md, null where there is no value; "error" and "solver_versions" only where
/// there is one.
[[nodiscard]] Json result_json(const ResultLine& result);
/// Fields that are not known are passed over: later versions write more. Throws InputError.
[[nodiscard]] ResultLine parse_result(const Json& json);

/// Appends lines to a results.jsonl; each is in the file, whole, when append() returns, so that a killed run
/// loses nothing but the instance it was at.
class ResultJournal {
  public:
    /// Goes on with an existing file; half a line left by a killed run is ended first. Throws InputError.
    explicit ResultJournal(const std::string& path);
    ResultJournal(const ResultJournal&) = delete;
    ResultJournal& operator=(const ResultJournal&) = delete;
    ~ResultJournal();

    void append(const ResultLine& result);

  private:
    void write(std::string_view text);

    std::string path_;
    int descriptor_ = -1;
};

/// The lines of a journal. One that a killed run left unfinished is passed over; any other that cannot be
/// read is an InputError at its line.
[[nodiscard]] std::vector<ResultLine> read_results(const std::string& path);

}  // namespace tutti::io
