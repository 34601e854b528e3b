#pragma once

#include "verify/numbered_send.hpp"

#include "core/instance.hpp"

#include <functional>
#include <span>

namespace tutti::verify {

/// Calls `take` for the sends of one tick that leave cut-through switches, in topological order: each after
/// those that feed its switch at the same tick (over a link of alpha 0).
void take_in_cut_through_order(std::span<const NumberedSend> sends, const Instance& instance,
                               const std::function<void(const NumberedSend&)>& take);

}  // namespace tutti::verify
