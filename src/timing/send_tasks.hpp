#pragma once

#include "core/collective.hpp"
#include "plan/epoch_schedule.hpp"
#include "plan/forestcoll_plan.hpp"
#include "plan/send_program.hpp"
#include "plan/tacos_plan.hpp"
#include "timing/placement.hpp"

#include <cstdint>

namespace tutti::timing {

/// Appends the tasks of sends between nodes. Their times (steps, epochs, …) determine what a send carries and
/// the order of sends over a connection; the topology determines when they start. Throws InputError where a
/// node sends what it cannot have. O(sends log sends).
void append_tasks(TimedProgram& program, Placement& placement, const plan::SendProgram& sends);
/// The same for trees, as an all-gather, a reduce-scatter or an all-reduce. Throws InputError for another
/// goal, and where a tree is not a tree.
void append_tasks(TimedProgram& program, Placement& placement, const plan::ForestCollPlan& plan,
                  CollectiveKind goal);

/// How many chunks the call's bytes are divided into. Precondition: the plan is of that collective.
[[nodiscard]] std::uint64_t chunks_of_call(CollectiveKind goal, const plan::SendProgram& sends);
[[nodiscard]] std::uint64_t chunks_of_call(const plan::TacosPlan& plan);
[[nodiscard]] std::uint64_t chunks_of_call(const plan::ForestCollPlan& plan);

/// TE-CCL's schedule as sends between GPUs, which are numbered in ascending order of the file's numbers.
/// Throws InputError where it splits chunks or sends from or to a switch.
[[nodiscard]] plan::SendProgram sends_of(const plan::EpochSchedule& schedule);
/// TACOS's queues as sends; `root` is that of a broadcast. Throws InputError for a goal that does not
/// determine the initial holders of chunks.
[[nodiscard]] plan::SendProgram sends_of(const plan::TacosPlan& plan, CollectiveKind goal, Rank root);

}  // namespace tutti::timing
