#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/verdict.hpp"

namespace tutti::verify {

struct Options {
    std::size_t max_violations = 20;  ///< how many violations the verdict spells out; all are counted
};

/// Judges a schedule by the rules V1…V17 of README.md in one sweep over its sends, in order of time.
/// Memory is one bit per node and plain chunk, the contribution sets of reductions, and the sends in flight;
/// the schedule itself is never held. Time O(sends * log(in flight) + contributions merged).
[[nodiscard]] Verdict verify(const Instance& instance, SendSource& sends, const Options& options = {});

/// The same for a schedule in memory, in any order.
[[nodiscard]] Verdict verify(const Instance& instance, const Schedule& schedule, const Options& options = {});

}  // namespace tutti::verify
