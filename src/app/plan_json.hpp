#pragma once

#include "app/plan_judge.hpp"
#include "core/topology.hpp"

#include <span>

namespace tutti::app {

/// A judged plan as JSON: the keys of io::plan_verdict_json, `condition`
/// (the file by which it was judged), `right_as`, and with a topology its cost or why
/// there is none, and in `sizes` the same for each of several sizes. For a file that is no plan: `file`, a
/// `verdict` of null, `skipped`. With a group, places also name the NPU of each rank.
[[nodiscard]] io::Json json_of(const JudgedPlan& judged, std::span<const std::int32_t> group,
                               const Topology* topology);

}  // namespace tutti::app
