#pragma once

#include "core/collective.hpp"
#include "plan/epoch_schedule.hpp"
#include "plan/forestcoll_plan.hpp"
#include "plan/send_program.hpp"
#include "plan/tacos_plan.hpp"
#include "timing/placement.hpp"

#include <cstdint>

namespace tutti::timing {

/// Appends the tasks of sends between nodes. Their times (steps, epochs, …) say what a send carries and which
/// of two sends over a connection is the first; when it starts follows from the topology. Throws InputError
/// where a node sends what it cannot have. O(sends log sends).
void append_tasks(TimedProgram& program, Placement& placement, const plan::SendProgram& sends);
/// The same of trees, which are an all-gather, a reduce-scatter or an all-reduce. Throws InputError for
/// another goal, and where trees are none.
void append_tasks(TimedProgram& program, Placement& placement, const plan::ForestCollPlan& plan,
                  CollectiveKind goal);

/// Chunks that the call's bytes are cut into. Precondition: the plan is of that collective.
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::SendProgram& sends);
[[nodiscard]] std::uint64_t chunks_of_call(const plan::TacosPlan& plan);
[[nodiscard]] std::uint64_t chunks_of_call(const plan::ForestCollPlan& plan);

/// TE-CCL's schedule as sends between GPUs, which are numbered in ascending order of the file's numbers.
/// Throws InputError where it splits chunks or sends from or to a switch.
[[nodiscard]] plan::SendProgram sends_of(const plan::EpochSchedule& schedule);
/// TACOS's queues as sends; `root`: of a broadcast. Throws InputError for a goal of which the file does not
/// say where chunks start.
[[nodiscard]] plan::SendProgram sends_of(const plan::TacosPlan& plan, CollectiveKind goal, Rank root);

}  // namespace tutti::timing
