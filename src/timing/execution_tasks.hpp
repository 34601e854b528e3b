#pragma once

#include "plan/execution_plan.hpp"
#include "timing/placement.hpp"

namespace tutti::timing {

/// Parts that a chunk is cut into, so that every thread block of a group moves whole parts: the least common
/// multiple of the sizes of the groups. Throws InputError above kMaxParts.
[[nodiscard]] std::int64_t parts_per_chunk(const plan::ExecutionPlan& plan);
inline constexpr std::int64_t kMaxParts = 1 << 12;

/// Appends the tasks of an execution plan; the placement's chunk size is that of a part, of which a chunk has
/// `parts`. Throws InputError where a number stands for nothing or packets are read that nobody writes.
void append_tasks(TimedProgram& program, Placement& placement, const plan::ExecutionPlan& plan,
                  std::int64_t parts);

}  // namespace tutti::timing
