#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "heuristics/levels/level_plan.hpp"

#include <optional>
#include <span>
#include <string>

namespace tutti::heuristics {

/// Broadcasts through switches, and backwards reductions to one NPU. None: it does not apply, or `stop` came
/// first.
[[nodiscard]] std::optional<Schedule> broadcast_rounds(const Instance& instance, const Stop& stop);
/// The same with other random weights, until the makespan is at most `target` or `stop` comes.
[[nodiscard]] std::optional<Schedule> search_broadcasts(const Instance& instance, Ticks target,
                                                        std::uint64_t seed, const Stop& stop);
/// Spreads the items forwards, on top of what is placed in `base`. None: somebody cannot be reached, or
/// `stop` came first.
[[nodiscard]] std::optional<MessagePlacer> broadcast(std::span<const LevelItem> items,
                                                     const MessagePlacer& base, const Instance& instance,
                                                     const Stop& stop);
/// Why there is none; empty if there may be one. O(chunks).
[[nodiscard]] std::string why_no_broadcast_rounds(const Instance& instance);

}  // namespace tutti::heuristics
