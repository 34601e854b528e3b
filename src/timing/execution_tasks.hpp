#pragma once

#include "plan/execution_plan.hpp"
#include "timing/placement.hpp"

namespace tutti::timing {

/// Parts that a chunk is cut into, so that every thread block of a group moves whole parts. Throws InputError
/// above plan::kMostPartsPerChunk, and where a group has no such part.
[[nodiscard]] std::int64_t checked_parts_per_chunk(const plan::ExecutionPlan& plan);

/// Appends the tasks of an execution plan; the placement's chunk size is that of a part, of which a chunk has
/// `parts`. Throws InputError where a number stands for nothing or packets are read that nobody writes.
void append_tasks(TimedProgram& program, Placement& placement, const plan::ExecutionPlan& plan,
                  std::int64_t parts);

}  // namespace tutti::timing
