#pragma once

#include "core/instance.hpp"

#include <optional>

namespace tutti {

/// The instance without what its switches can do in vain (useful_rules.cpp says when); none if they can do
/// nothing in vain. Every schedule of it is one of the instance, and a shortest one is a shortest one of the
/// instance. O(switches + node sets of the demands), and a copy of the instance where there is one.
[[nodiscard]] std::optional<Instance> with_useful_rules(const Instance& instance);

}  // namespace tutti
