#pragma once

#include "core/topology.hpp"

#include <cstdint>

namespace tutti::generators {

struct Dragonfly {
    std::uint64_t groups = 1;
    std::uint64_t routers_per_group = 1;
    std::uint64_t npus_per_router = 1;
    std::uint64_t global_links_per_router = 1;
    Wire npu_wire;     ///< NPU to router
    Wire local_wire;   ///< router to router of one group
    Wire global_wire;  ///< group to group
    SwitchRule rule;
};

/// Routers are switches. The routers of a group are fully connected; every two groups are joined by the same
/// number of global links, floor(routers_per_group * global_links_per_router / (groups - 1)), which must be
/// at least 1; ports left over by the division stay unused. NPUs and routers are numbered router by router,
/// group by group. Links: NPU by NPU to its router; then group by group the local links (0-1, 0-2, …, 1-2,
/// …); then the global links, group by group, port by port, each listed by the lower group; each both ways.
[[nodiscard]] TopologyParts dragonfly(const Dragonfly& shape);

}  // namespace tutti::generators
