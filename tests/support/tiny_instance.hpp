#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"

#include <string>

namespace tutti::test {

/// An instance so small that tests/oracle/brute_force.hpp can mostly find its optimum: 2 to 5 nodes, up to
/// two of them switches of any kind, few links, alpha 0 to 2, beta 1 or 2 (up to 4 for larger chunks in
/// physical units), one or two collectives of any kind on any group, releases 0 to 2 (by rank 0 to 4), both
/// busy rules, both forwardings. Every receiver can be reached (is_feasible), though the rules of the
/// switches may still leave no schedule. Latency 0 leads from one cut-through switch only to a higher
/// numbered one.
[[nodiscard]] Instance tiny_instance(Rng& rng);

/// What an instance has in it, to see that a run of random ones covers everything.
struct TinyFeatures {
    bool switches = false, storing = false, cut_through = false, copying = false, reducing = false;
    bool buffer = false, reduction = false, shared_sum = false, group_forwarding = false,
         one_in_flight = false;
    bool physical = false, release = false, staggered = false, late_sum = false, sizes = false;
};
/// `shared_sum`: a reduction with several receivers. `staggered`: holders of a chunk with different releases;
/// `late_sum`: contributors.
[[nodiscard]] TinyFeatures features_of(const Instance& instance);

}  // namespace tutti::test
