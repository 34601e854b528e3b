#pragma once

#include "batch/results_table.hpp"

#include <string>

namespace tutti::batch {

/// The rows as CSV (RFC 4180, lines end with a newline): a column for each key of results.jsonl, the same
/// whatever the rows hold, and a first column `run` where that is wanted. Null is an empty cell, true and
/// false are such, an object is its JSON.
[[nodiscard]] std::string results_csv(const std::vector<ShownRow>& rows, bool names_runs);

}  // namespace tutti::batch
