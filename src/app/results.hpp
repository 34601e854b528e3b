#pragma once

/// Results of batches: shown, compared, merged (docs/results.md). batch does the work; this resolves the
/// names of runs.

#include "app/json.hpp"
#include "batch/compare.hpp"
#include "batch/merge.hpp"
#include "batch/results_csv.hpp"
#include "batch/results_request.hpp"
#include "batch/results_table.hpp"

#include <string>
#include <vector>

namespace tutti::app {

/// Each is a folder, a results.jsonl, or "-". Throws InputError.
[[nodiscard]] std::vector<batch::Run> read_runs(const std::vector<std::string>& paths);

/// Writes CSV to a file, atomically. Throws OutputError.
void write_csv(const std::string& path, const std::string& csv);

/// What `tutti results merge --json` prints, except the exit code.
[[nodiscard]] io::Json json_of(const batch::Merged& merged, const std::string& output, std::size_t runs);

}  // namespace tutti::app
