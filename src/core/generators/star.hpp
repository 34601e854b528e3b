#pragma once

#include "core/topology.hpp"

#include <cstdint>

namespace tutti::generators {

/// Every NPU on one switch. Links: NPU by NPU, to the switch and back.
[[nodiscard]] TopologyParts star(std::uint64_t npus, const Wire& wire, const SwitchRule& rule = {});

}  // namespace tutti::generators
