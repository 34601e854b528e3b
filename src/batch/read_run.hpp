#pragma once

#include "batch/run_file.hpp"
#include "core/topology.hpp"
#include "io/result_jsonl.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

/// What a run left behind.
struct Run {
    std::string name{};                   ///< as the user called it
    std::string folder{};                 ///< in which the results are
    std::vector<io::ResultLine> lines{};  ///< the last of each key, as io::find_results gives them
};

/// A results folder or a results.jsonl; "-" is standard input. Throws InputError.
[[nodiscard]] Run read_run(const std::string& path);

/// What was asked of the run: its run.json; none where there is no such file. Throws InputError.
[[nodiscard]] std::optional<RunFile> file_of(const Run& run);

/// Whether the line is a failure: it says so, or it has a schedule that nobody verified.
[[nodiscard]] bool has_failed(const io::ResultLine& line);
/// Of two lines about one task, whether the first counts: a result more than a failure, or else what ended
/// later.
[[nodiscard]] bool supersedes(const io::ResultLine& line, const io::ResultLine& other);
/// "time: it took more than 2 s", "not verified". Precondition: has_failed(line).
[[nodiscard]] std::string failure_text(const io::ResultLine& line);

/// For people: the labels, with what is not the same for all of these lines.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<const io::ResultLine*>& lines);
[[nodiscard]] Units units_of(const io::ResultLine& line);

}  // namespace tutti::batch
