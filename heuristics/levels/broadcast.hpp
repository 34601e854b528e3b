#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

#include <optional>
#include <string>

namespace tutti::heuristics {

/// Broadcasts through switches, and backwards reductions to one NPU. None: it does not apply, or `stop` came
/// first.
[[nodiscard]] std::optional<Schedule> broadcast_rounds(const Instance& instance, const Stop& stop);
/// Why there is none; empty if there may be one. O(chunks).
[[nodiscard]] std::string why_no_broadcast_rounds(const Instance& instance);

}  // namespace tutti::heuristics
