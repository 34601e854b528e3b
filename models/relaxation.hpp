#pragma once

#include "models/backend.hpp"

#include "core/bound.hpp"
#include "core/instance.hpp"

#include <optional>

// Lower bounds from linear programs. The solver's duals are only a proposal: they are rounded to integers,
// and what these prove is computed exactly. So a bound is never above the optimum, however badly the solver
// rounds. Preconditions of both: backend.abilities().linear_programs, and every receiver can be reached.

namespace tutti::models {

/// How much may be put to the solver, in entries of matrices. Entries, not seconds, so that the same instance
/// has the same bound everywhere.
struct RelaxationLimits {
    SolveLimits solve{};
    std::size_t entries = 2'000'000;        ///< of one program
    std::size_t all_entries = 100'000'000;  ///< of all programs of a bound together
};

struct Relaxed {
    std::optional<Bound> bound{};
    bool too_large = false;  ///< a program was not solved because of its size: more might be proven
};

/// Kind "flow", with lengths: all chunks at once as a multicommodity flow, each to one receiver (the
/// farthest; from the farthest contribution, if a reduction), links as wide as the makespan lets them be. No
/// bound: nothing to move, the program is too large, or stopped.
[[nodiscard]] Relaxed flow_bound(const Instance& instance, const Backend& backend,
                                 const RelaxationLimits& limits);

/// Kind "time-expanded", with timed lengths: the same flow through time, for one horizon after the other from
/// `from` on, as long as it is not possible. Chunks with several receivers are looked at one receiver at a
/// time, reductions also one contributor at a time. No bound: none above `from` was found (a horizon of
/// `from` is possible, the program is too large, or stopped). Stopped or too large later on, the best bound
/// so far is returned.
[[nodiscard]] Relaxed time_expanded_bound(const Instance& instance, const Backend& backend, Ticks from,
                                          const RelaxationLimits& limits);

/// The same with small times in place of those of the links, where these make too many units: kind
/// "time-expanded", with small times. No bound: none above `from` was found, or chains of sends are not all
/// that times come from (switches that cut through, chunks of several sizes, releases).
[[nodiscard]] Relaxed small_times_bound(const Instance& instance, const Backend& backend, Ticks from,
                                        const RelaxationLimits& limits);

}  // namespace tutti::models
