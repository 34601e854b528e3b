#pragma once

#include "tune/collective_cost.hpp"

#include <cstdint>

namespace tutti::tune {

/// The k pieces of a call, each handed over when its piece is computed, under one schedule: piece i is
/// released at i + 1 times `each_us`. When all are there, in microseconds. Throws LimitError where there is
/// no schedule within the limits.
[[nodiscard]] double joint_us(CallSchedules& calls, const Call& piece, std::int64_t pieces, double each_us);

/// Whether two calls that share links had better be made at the same time, or one after the other.
struct Together {
    CallSchedule first{}, second{};  ///< each alone
    CallSchedule both{};             ///< under one schedule
    [[nodiscard]] double apart_us() const { return first.us() + second.us(); }
};

}  // namespace tutti::tune
