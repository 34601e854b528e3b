#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <span>

namespace tutti::generators {

/// 2^dimensions NPUs; two are joined when their numbers differ in one bit. It is mesh [2, 2, …], so dimension
/// 0 is the highest bit. `wires`: one for all dimensions, or one for each.
[[nodiscard]] TopologyParts hypercube(std::uint64_t dimensions, std::span<const Wire> wires);

}  // namespace tutti::generators
