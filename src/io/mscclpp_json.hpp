#pragma once

#include "io/source.hpp"
#include "plan/execution_plan.hpp"

#include <string>

namespace tutti::io {

/// Execution plans of MSCCL++ (JSON of version 0.9; docs/mscclpp-json.md).

/// Throws plan::PlanError with one of the codes `json` (no JSON), `old-format` (the camelCase plans of
/// earlier versions), `missing-key`, `bad-integer`, `bad-value` (another type, or a word that the format does
/// not have) and `too-large`. Unknown keys are ignored, as the format requires. The plan is not verified.
[[nodiscard]] plan::ExecutionPlan read_mscclpp_json(Source& source);

/// The plan as JSON, with the keys in the producer's order; read_mscclpp_json gives it back.
[[nodiscard]] std::string mscclpp_json_text(const plan::ExecutionPlan& plan);

/// Written atomically; "-" is standard output.
void write_mscclpp_json(const plan::ExecutionPlan& plan, const std::string& path);

}  // namespace tutti::io
