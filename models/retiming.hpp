#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <optional>

namespace tutti::models {

/// The sends of a schedule on the same links of `to`, an instance that differs from `from` in the times of
/// links only: each as early as it can start after the sends before it on its link and the arrivals that it
/// waited for; arrivals at an NPU that it did not wait for still come later, where they would change a sum.
/// Mostly valid if the schedule is, but ties may fall otherwise: verify it. None where these orders
/// contradict one another in the times of `to`. Precondition: no cut-through switch. O(rounds * pairs of
/// sends of one chunk at one node).
[[nodiscard]] std::optional<Schedule> retimed(const Instance& from, const Schedule& schedule,
                                              const Instance& to);

}  // namespace tutti::models
