#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/stop.hpp"

#include <vector>

namespace tutti::synth {

/// Every bound we know, the largest first: those of src/bounds, and with HiGHS the linear programs of
/// models/relaxation. Each certificate is checked (synth/judge). Precondition: every receiver can be reached.
[[nodiscard]] std::vector<Bound> every_bound(const Instance& instance, const Stop& stop);

/// A proof by linear duals, which anybody can check, of what a solver has proven: that no schedule is shorter
/// than `value`, looked for within `time`. None if there is no such proof or it is not found in time.
[[nodiscard]] std::optional<Bound> checkable_proof(const Instance& instance, Ticks value, const Stop& stop,
                                                   Stop::Seconds time);

}  // namespace tutti::synth
