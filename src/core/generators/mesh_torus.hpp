#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <span>

namespace tutti::generators {

/// Lines in every dimension. NPUs row by row, the last dimension fastest: mesh [2, 3] is 0-1-2 above 3-4-5.
/// `wires`: one for all dimensions, or one for each.
[[nodiscard]] TopologyParts mesh(std::span<const std::uint64_t> dims, std::span<const Wire> wires);

/// Rings in every dimension. A dimension of two NPUs has one link each way, not two; a dimension of one has
/// none.
[[nodiscard]] TopologyParts torus(std::span<const std::uint64_t> dims, std::span<const Wire> wires);

}  // namespace tutti::generators
