#pragma once

#include "core/topology.hpp"

#include <cstdint>

namespace tutti::generators {

enum class Direction { Both, OneWay };

/// NPU i is joined to i+1 and the last to 0. One way: links from i to i+1 only. Two NPUs have one link each
/// way.
[[nodiscard]] TopologyParts ring(std::uint64_t npus, const Wire& wire, Direction direction = Direction::Both);

/// NPU i is joined to i+1; the ends are not joined.
[[nodiscard]] TopologyParts line(std::uint64_t npus, const Wire& wire);

}  // namespace tutti::generators
