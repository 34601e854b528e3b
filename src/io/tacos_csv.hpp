#pragma once

#include "io/source.hpp"
#include "plan/tacos_plan.hpp"

namespace tutti::io {

/// Reads the CSV that TACOS wrote for a while (docs/step-formats.md): four lines of counts, a header, and a
/// line per link with the chunks that it sends, in order. Throws plan::PlanError with the line and one of the
/// codes `bad-line`, `bad-integer`, `bad-value` and `too-large`.
[[nodiscard]] plan::TacosPlan read_tacos_csv(Source& source);

}  // namespace tutti::io
