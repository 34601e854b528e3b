#pragma once

#include "verify/numbered_send.hpp"

#include "core/instance.hpp"

#include <functional>
#include <span>

namespace tutti::verify {

/// Takes sends of one tick out of cut-through switches, each after all of them that feed its switch at once
/// (over a link of alpha 0).
void take_in_cut_through_order(std::span<const NumberedSend> sends, const Instance& instance,
                               const std::function<void(const NumberedSend&)>& take);

}  // namespace tutti::verify
