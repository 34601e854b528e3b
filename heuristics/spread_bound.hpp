#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// A lower bound of a spread problem's makespan, for knowing when to stop: what every node must receive over
/// its own hops, and what every node must send because it is the only source. Bookings are ignored. O(hops +
/// spreads
/// + targets of different lists).
[[nodiscard]] Ticks spread_bound(const SpreadProblem& problem);

}  // namespace tutti::heuristics
