#pragma once

#include "core/candidate.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/search_options.hpp"
#include "core/stop.hpp"
#include "heuristics/effort.hpp"
#include "heuristics/heuristic.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::heuristics {

struct GreedyRequest {
    Ticks target{};  ///< no schedule can beat it; meeting it ends the search
    Effort effort = Effort::Quick;
    std::uint64_t seed = 1;
    unsigned threads = 1;
    Stop stop{};
    SearchOptions options{};
    /// Run only this one; null: all that the portfolio selects. Precondition: why_not(instance,
    /// *alone).empty().
    const Heuristic* alone = nullptr;
    /// Ends the search where there is a schedule by then; without one it goes on until `stop`. None: `stop`.
    std::optional<Stop> turn{};
};

struct GreedyResult {
    std::optional<Schedule> schedule{};
    /// The heuristic that made it: a name of heuristics(), or two of them joined by " + ", where one made the
    /// reductions and another distributed the chunks.
    std::string heuristic{};
    std::vector<Candidate> candidates{};  ///< in the order of their first turns
};

/// A schedule for any instance whose receivers can be reached, by the best of several polynomial heuristics
/// and seeds. No schedule: stopped before there was one, or the heuristic that ran alone found none. The same
/// seed and threads give the same schedule, unless stopped.
[[nodiscard]] GreedyResult greedy_search(const Instance& instance, const GreedyRequest& request);

/// Only its schedule.
[[nodiscard]] std::optional<Schedule> greedy(const Instance& instance, const GreedyRequest& request);

/// Why the heuristic cannot solve the instance alone, as a message; empty if it may. O(instance).
[[nodiscard]] std::string why_not(const Instance& instance, const Heuristic& heuristic);

/// The instance with switches that only forward, if some can do more. Its schedules are valid for the
/// instance as well, and some methods find shorter ones there.
[[nodiscard]] std::optional<Instance> without_abilities(const Instance& instance);

}  // namespace tutti::heuristics
