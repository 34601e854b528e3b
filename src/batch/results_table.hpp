#pragma once

#include "batch/read_run.hpp"
#include "batch/results_request.hpp"
#include "text/toned_line.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

/// A line of a run; `run` is its name.
struct ShownRow {
    const io::ResultLine* line = nullptr;
    const std::string* run = nullptr;
};

/// The selected rows of all runs. Rows without a value to sort by come last, whichever the direction. The
/// runs must outlive the rows.
[[nodiscard]] std::vector<ShownRow> selected(const std::vector<Run>& runs, const Selection& selection);

struct ResultsTableStyle {
    bool names_runs = false;  ///< a column for the run
    /// Labels are text::shortened where lines would be longer; none: never.
    std::optional<std::size_t> columns{};
};

/// The table, the failures in words, and a line that sums up. Columns in which no row has a value are left
/// out.
[[nodiscard]] std::vector<text::TonedLine> results_table(const std::vector<ShownRow>& rows,
                                                         const ResultsTableStyle& style);

/// A row for each collective of the rows' instances: when it is finished, its size and its bandwidths. Rows
/// without a schedule have none, nor have those of older versions.
[[nodiscard]] std::vector<text::TonedLine> collectives_table(const std::vector<ShownRow>& rows);

/// The same for programs: "instances", "verified", "optimal", "failed", "mean_gap", "geomean_gap", "seconds"
/// and "results", the lines of results.jsonl (with their "run" where that is wanted).
[[nodiscard]] io::Json results_json(const std::vector<ShownRow>& rows, bool names_runs);

}  // namespace tutti::batch
