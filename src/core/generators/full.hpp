#pragma once

#include "core/topology.hpp"

#include <cstdint>

namespace tutti::generators {

/// Every NPU has a link to every other. Links: 0-1, 0-2, …, 1-2, …; each both ways.
[[nodiscard]] TopologyParts fully_connected(std::uint64_t npus, const Wire& wire);

}  // namespace tutti::generators
