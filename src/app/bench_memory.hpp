#pragma once

#include "app/bench_plan.hpp"

namespace tutti::app {

/// Engine 1 in this process beside the loop that memory limits.
[[nodiscard]] BenchResult bench_against_memory(const BenchOptions& options, const Watch& watch,
                                               const std::function<void(const BenchRow&)>& row);

}  // namespace tutti::app
