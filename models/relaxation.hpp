#pragma once

#include "models/backend.hpp"

#include "core/bound.hpp"
#include "core/instance.hpp"

#include <optional>

// Lower bounds from linear programs. The solver's duals are only a proposal: they are rounded to integers,
// and what these prove is computed exactly. So a bound is never above the optimum, however badly the solver
// rounds. Preconditions of both: backend.abilities().linear_programs, and every receiver can be reached.

namespace tutti::models {

/// The largest program that is put to a solver, in entries of its matrix.
inline constexpr std::size_t kMaxRelaxationEntries = 2'000'000;

/// Kind "flow", with lengths: all chunks at once as a multicommodity flow, each to one receiver (the
/// farthest; from the farthest contribution, if a reduction), links as wide as the makespan lets them be.
/// None: nothing to move, the program is too large, or stopped.
[[nodiscard]] std::optional<Bound> flow_bound(const Instance& instance, const Backend& backend,
                                              const SolveLimits& limits);

/// Kind "time-expanded", with timed lengths: the same flow through time, for one horizon after the other from
/// `from` on, as long as it is not possible. Chunks with several receivers are looked at one receiver at a
/// time, reductions also one contributor at a time. None: no bound above `from` was found (a horizon of
/// `from` is possible, the program is too large, or stopped). Stopped or too large later on, the best bound
/// so far is returned.
[[nodiscard]] std::optional<Bound> time_expanded_bound(const Instance& instance, const Backend& backend,
                                                       Ticks from, const SolveLimits& limits);

}  // namespace tutti::models
