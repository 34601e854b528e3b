#pragma once

#include "io/source.hpp"
#include "plan/sccl_plan.hpp"

#include <string>

namespace tutti::io {

/// Algorithms of SCCL and msccl-tools (`.msccl.json`, `.sccl.json`) and of TACCL (`.sccl.json`), which differ
/// in the topology and in that TACCL's sends have times (docs/step-formats.md).

/// Throws plan::PlanError with one of the codes `json`, `missing-key`, `bad-integer`, `bad-value` and
/// `too-large`. Keys that are not needed may be missing or unknown. The algorithm is not verified.
[[nodiscard]] plan::ScclPlan read_sccl_json(Source& source);

/// An algorithm as msccl-tools loads it or, where its clock is Times, as TACCL does; read_sccl_json gives it
/// back. Precondition: its clock is Steps or Times; its links are sorted, and with times their latencies are
/// whole units of the topology and proportional to the number of chunks.
[[nodiscard]] std::string sccl_json_text(const plan::ScclPlan& plan);
/// Written atomically; "-" is standard output.
void write_sccl_json(const std::string& path, const plan::ScclPlan& plan);

/// The maximum number of nodes; files have a number for every pair of them.
inline constexpr std::int32_t kMostStepNodes = 1 << 14;

}  // namespace tutti::io
