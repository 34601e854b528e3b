#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"
#include "core/schedule.hpp"

#include <functional>

namespace tutti::test {

/// Sends drawn blindly: any chunk on any link at any tick up to `horizon`, seldom beyond. Seldom valid; names
/// every kind of fault. The makespan is left at 0.
[[nodiscard]] Schedule random_sends(const Instance& instance, Rng& rng, std::size_t count,
                                    std::int64_t horizon);

/// Sends drawn with some sense: chunks wander from where they are, when they are there, over links that are
/// free, and onward through cut-through switches. Often valid but for the demands; a few sends are moved or
/// changed so that the rules of switches and reductions are met at their edges. The makespan is left at 0.
[[nodiscard]] Schedule random_walk(const Instance& instance, Rng& rng, std::size_t steps);

/// The schedule with as many sends left out, and the others started as early, as `fails` allows.
[[nodiscard]] Schedule shrunk(Schedule schedule, const std::function<bool(const Schedule&)>& fails);

/// Leaves out the links that no send uses; the others, and the sends on them, get new numbers.
void drop_unused_links(InstanceParts& parts, Schedule& schedule);

}  // namespace tutti::test
