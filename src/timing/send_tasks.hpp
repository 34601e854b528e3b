#pragma once

#include "core/collective.hpp"
#include "plan/epoch_schedule.hpp"
#include "plan/send_plan.hpp"
#include "timing/placement.hpp"

#include <cstdint>

namespace tutti::timing {

/// Appends the tasks of a plan of sends. Its times (steps, epochs, …) say what a send carries and which of
/// two sends over a connection is the first; when it starts follows from the topology. `goal`: of trees and
/// queues, which do not say it. Throws InputError where a node sends what it cannot have, or for a goal that
/// the format cannot have. O(sends log sends).
void append_tasks(TimedProgram& program, Placement& placement, const plan::SendPlan& plan,
                  CollectiveKind goal, std::int32_t root);

/// Chunks that the call's bytes are cut into. Precondition: the plan is of that collective.
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::SendPlan& plan);

/// TE-CCL's schedule as sends between GPUs, which are numbered in ascending order of the file's numbers.
/// Throws InputError where it splits chunks or sends from or to a switch.
[[nodiscard]] plan::SendPlan sends_of(const plan::EpochSchedule& schedule);

}  // namespace tutti::timing
