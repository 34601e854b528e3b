#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

#include <optional>
#include <string>

namespace tutti::heuristics {

/// Chunks with one receiver each, straight through the switches, in rounds of messages that share no link.
/// None: it does not apply, or `stop` came first.
[[nodiscard]] std::optional<Schedule> packed_rounds(const Instance& instance, const Stop& stop);
/// Why there is none; empty if there may be one. O(chunks).
[[nodiscard]] std::string why_no_packed_rounds(const Instance& instance);

}  // namespace tutti::heuristics
