#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "heuristics/effort.hpp"

#include <optional>

namespace tutti::heuristics {

struct GreedyRequest {
    Ticks target{};  ///< no schedule can beat it; meeting it ends the search
    Effort effort = Effort::Quick;
    std::uint64_t seed = 1;
    unsigned threads = 1;
    Stop stop{};
};

/// A schedule for any instance whose receivers can be reached, by the best of several polynomial heuristics
/// and seeds. None: stopped before there was one. The same seed and threads give the same schedule, unless
/// stopped.
[[nodiscard]] std::optional<Schedule> greedy(const Instance& instance, const GreedyRequest& request);

}  // namespace tutti::heuristics
