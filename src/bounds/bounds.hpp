#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/stop.hpp"

#include <vector>

namespace tutti::bounds {

/// The lower bounds that need no solver: latency, ingress, egress, volume; the largest first. Never empty.
/// Work is limited: on instances with very many different sources some are left out, and the bounds are
/// then smaller than they could be, never wrong. Precondition: every receiver can be reached.
[[nodiscard]] std::vector<Bound> simple_bounds(const Instance& instance, const Stop& stop = {});

}  // namespace tutti::bounds
