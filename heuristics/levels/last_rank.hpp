#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

#include <optional>
#include <string>

namespace tutti::heuristics {

/// All-reduces with a rank that is released after the others, through switches (last_rank.cpp). None: it does
/// not apply, or `stop` came first.
[[nodiscard]] std::optional<Schedule> last_rank(const Instance& instance, const Stop& stop);
/// Why there is none; empty if there may be one. O(sizes of the demands).
[[nodiscard]] std::string why_no_last_rank(const Instance& instance);

}  // namespace tutti::heuristics
