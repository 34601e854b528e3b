#pragma once

#include "io/json_view.hpp"
#include "plan/plan_verdict.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace tutti::io {

/// What `tutti verify --json` prints for a plan of another tool: "file", "verdict", "violations",
/// "violation_count", "warnings", "warning_count", "format", "name", "collective", "mode", "root", "ranks",
/// "steps", "fifo"; null where there is no value. With a group, places also have the "npu" that the rank is.
[[nodiscard]] Json plan_verdict_json(const std::string& file, const plan::PlanVerdict& verdict,
                                     std::span<const std::int32_t> group = {});

}  // namespace tutti::io
