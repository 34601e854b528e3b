#pragma once

#include "verify/placed.hpp"

#include "core/instance.hpp"

#include <functional>
#include <span>

namespace tutti::verify {

/// Takes sends of one tick out of cut-through switches, each after all of them that feed its switch at once
/// (over a link of alpha 0).
void take_onward(std::span<const Placed> sends, const Instance& instance,
                 const std::function<void(const Placed&)>& take);

}  // namespace tutti::verify
