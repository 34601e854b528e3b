#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"

namespace tutti::test {

/// A small cluster drawn at random: rails, nodes on a fat tree, a fat tree or a star of hosts, with switches
/// of one rule, wires of any speed, sometimes a few links that failed, and one or two collectives of the
/// common kinds on all NPUs or on random groups, with releases. Feasible unless links failed or relays are
/// forbidden.
[[nodiscard]] InstanceParts random_cluster(Rng& rng);

}  // namespace tutti::test
