#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "lang/trace.hpp"
#include "plan/round_plan.hpp"

namespace tutti::compile {

/// One collective of a schedule as rounds of messages between ranks, for calls in place too if `in_place`:
/// then places that are one there are not read after they were written if the schedule allows that, which can
/// take more rounds. How many chunks a pair of ranks exchanges in a round is what takes the least time on the
/// instance's network if a round begins when the one before has ended. Throws InputError where plans for NPUs
/// cannot say what the schedule does (part_of). Precondition: the schedule is valid. O(messages log messages)
/// for each number of chunks that is tried, a power of two.
[[nodiscard]] plan::RoundPlan lower_to_rounds(const Instance& instance, const Schedule& schedule,
                                              CollectiveId collective, bool in_place);

/// A chunk program as rounds, as few as its messages allow; `in_place` as above. The protocol, the thread
/// blocks and the number of instances that it asks for mean nothing here. A program that is not in place may
/// still write its input; the rounds never do. Throws InputError for a custom collective that begins with
/// chunks outside of the input. Preconditions: the verbs were traced, and the trace ends with what its
/// collective wants. O(chunks of all verbs log of them).
[[nodiscard]] plan::RoundPlan lower_to_rounds(const lang::Trace& trace, bool in_place);

}  // namespace tutti::compile
