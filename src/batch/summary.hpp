#pragma once

#include "batch/batch.hpp"

#include "io/json_view.hpp"
#include "text/safe_text.hpp"

namespace tutti::batch {

/// The table of a run: a row per instance, the errors in words, and a line that sums it up.
[[nodiscard]] text::SafeText table_text(const Outcome& outcome);

/// The same for programs: "instances", "verified", "optimal", "failed", "mean_gap", "seconds", "complete",
/// "news" and the lines of results.jsonl as "results", each with its "file".
[[nodiscard]] io::Json outcome_json(const Outcome& outcome);

}  // namespace tutti::batch
