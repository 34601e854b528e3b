#pragma once

#include "io/source.hpp"
#include "plan/epoch_schedule.hpp"

namespace tutti::io {

/// Reads a schedule of TE-CCL (docs/step-formats.md). The keys' numbers differ between versions ("7-Flows",
/// "6-Flows", "8-Chunk paths", "7-chunk paths") and are ignored. Throws plan::PlanError with
/// one of the codes `json`, `missing-key`, `bad-line` (a text that is not as TE-CCL writes it), `bad-value`
/// and `too-large`.
[[nodiscard]] plan::EpochSchedule read_teccl_json(Source& source);

}  // namespace tutti::io
