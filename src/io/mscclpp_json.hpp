#pragma once

#include "io/source.hpp"
#include "plan/execution_plan.hpp"

#include <string>

namespace tutti::io {

/// Execution plans of MSCCL++ (JSON of version 0.9; docs/mscclpp-json.md).

/// Throws plan::PlanError with one of the codes `json` (no JSON), `old-format` (the camelCase plans of
/// earlier versions), `missing-key`, `bad-integer`, `bad-value` (another type, or a word that the format does
/// not have) and `too-large`. Unknown keys are ignored, as the format wants it. What the plan says is not
/// judged.
[[nodiscard]] plan::ExecutionPlan read_mscclpp_json(Source& source);

/// The plan as a file has it, with the keys in the order of the producer; read_mscclpp_json gives it back.
[[nodiscard]] std::string mscclpp_json_text(const plan::ExecutionPlan& plan);

/// Appears whole or not at all; "-" is standard output.
void write_mscclpp_json(const plan::ExecutionPlan& plan, const std::string& path);

}  // namespace tutti::io
