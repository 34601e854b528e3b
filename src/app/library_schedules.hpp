#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "lang/trace.hpp"
#include "synth/synthesize.hpp"

#include <optional>

namespace tutti::app {

/// The schedule of a program on the instance's network: every verb between ranks is a send over the route
/// that plans take, as early as its link is free, in the order of the program. The program's chunks are cut
/// into those of the instance. None where they do not fit each other, where a rank cannot reach another, or
/// where the program is too long. It has not been verified, and need not be valid: an NPU of a schedule has
/// one value of a chunk, where a program can have several in scratch.
[[nodiscard]] std::optional<Schedule> schedule_of(const lang::Trace& trace, const Instance& instance,
                                                  const Stop& stop);

/// Offers the schedules of all algorithms of the library that serve the instance and take less than `below`.
/// A synth::Proposals. Bounded work.
void propose_library(const Instance& instance, Ticks below, const Stop& stop,
                     const synth::ProposalTaker& take);

}  // namespace tutti::app
