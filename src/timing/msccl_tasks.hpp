#pragma once

#include "plan/msccl_plan.hpp"
#include "timing/placement.hpp"

namespace tutti::timing {

/// Appends the tasks of an MSCCL plan: a step of c chunks that sends or receives is c tasks, any other step
/// one. `capacity` >= 1 is the number of messages that a connection buffers. Throws InputError where sends
/// and receives do not match or a step waits for a signal that never comes. O(tasks + steps log steps).
void append_tasks(TimedProgram& program, Placement& placement, const plan::MscclPlan& plan,
                  std::int64_t capacity);

}  // namespace tutti::timing
