#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/stop.hpp"

#include <vector>

namespace tutti::synth {

/// All bounds, the largest first: those of src/bounds, and with HiGHS the linear programs of
/// models/relaxation. Each certificate is checked (synth/judge). Precondition: every receiver can be reached.
[[nodiscard]] std::vector<Bound> every_bound(const Instance& instance, const Stop& stop);

/// A checkable proof by linear duals of what a solver has proven: that no schedule is shorter than `value`;
/// searched for `time`. None if there is no such proof or it is not found in time.
[[nodiscard]] std::optional<Bound> checkable_proof(const Instance& instance, Ticks value, const Stop& stop,
                                                   Stop::Seconds time);

}  // namespace tutti::synth
