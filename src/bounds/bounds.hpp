#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/stop.hpp"

#include <vector>

namespace tutti::bounds {

/// Lower bounds that need no solver, with their certificates (docs/bounds.md), the largest first. Never
/// empty. Work is limited: on very large instances the bounds are smaller than they could be, never wrong.
/// Precondition of both: every receiver can be reached.

/// The fast ones: latency, ingress, egress, volume, and for all-to-alls the regular cuts. Near-linear.
[[nodiscard]] std::vector<Bound> simple_bounds(const Instance& instance, const Stop& stop = {});

/// Those, and cut and flow, which take seconds on thousands of NPUs.
[[nodiscard]] std::vector<Bound> all_bounds(const Instance& instance, const Stop& stop = {});

}  // namespace tutti::bounds
