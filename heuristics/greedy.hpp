#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

#include <optional>

namespace tutti::heuristics {

/// A schedule for any instance whose receivers can be reached, by the best of several polynomial heuristics
/// and seeds. Ends early at a makespan of `target`, which no schedule can beat. None: stopped before there
/// was one. The same rng gives the same schedule, unless stopped.
[[nodiscard]] std::optional<Schedule> greedy(const Instance& instance, Rng& rng, Ticks target,
                                             unsigned threads, const Stop& stop);

}  // namespace tutti::heuristics
