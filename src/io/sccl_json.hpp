#pragma once

#include "io/source.hpp"
#include "plan/sccl_plan.hpp"

#include <string>

namespace tutti::io {

/// Algorithms of SCCL and msccl-tools (`.msccl.json`, `.sccl.json`) and of TACCL (`.sccl.json`), which differ
/// in the topology and in that TACCL's sends have times (docs/step-formats.md).

/// Throws plan::PlanError with one of the codes `json`, `missing-key`, `bad-integer`, `bad-value` and
/// `too-large`. Keys that are not needed may be missing or unknown. What the algorithm does is not judged.
[[nodiscard]] plan::ScclPlan read_sccl_json(Source& source);

/// An algorithm as msccl-tools loads it or, where its clock is Times, as TACCL does; read_sccl_json gives it
/// back. Precondition: its clock is Steps or Times; its links are sorted, and with times their latencies are
/// whole units of the topology and proportional to the number of chunks.
[[nodiscard]] std::string sccl_json_text(const plan::ScclPlan& plan);
/// Appears whole or not at all; "-" is standard output.
void write_sccl_json(const std::string& path, const plan::ScclPlan& plan);

/// Nodes beyond these are refused; the files hold a number for every pair of them.
inline constexpr std::int32_t kMostStepNodes = 1 << 14;

}  // namespace tutti::io
