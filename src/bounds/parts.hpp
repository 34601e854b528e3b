#pragma once

#include "bounds/traffic.hpp"

#include <cstdint>
#include <vector>

namespace tutti::bounds {

/// The NPUs in parts: nodes of a cluster, leaves or pods of a fat tree, groups of a dragonfly.
struct Partition {
    std::vector<std::uint32_t> part;  ///< of each NPU
    std::uint32_t parts = 0;
    friend bool operator==(const Partition&, const Partition&) = default;
};

/// Partitions that the network suggests: NPUs that reach each other, through switches only, in a certain
/// time; NPUs joined by links that are fast enough. None of one part only, none of single NPUs. A handful.
/// O(NPUs * links log nodes) where that is little work, else O(links) each.
[[nodiscard]] std::vector<Partition> natural_partitions(const Traffic& traffic, const Stop& stop);

/// Per node the part of all its nearest NPUs; of a switch whose nearest NPUs are of several parts a number
/// that is no part's. O(links).
[[nodiscard]] std::vector<std::uint32_t> parts_of_nodes(const Topology& topology, const Partition& partition);

/// The NPUs of one part, and the switches whose nearest NPUs are all of it.
[[nodiscard]] std::vector<bool> side_of(const Topology& topology, const Partition& partition,
                                        std::uint32_t part);

/// Parts worth a look: of those that much must enter (leave) over little speed the worst few of each
/// partition.
struct Suspects {
    std::vector<std::vector<bool>> entered, left;  ///< per node: on the part's side
};
[[nodiscard]] Suspects suspects(const Traffic& traffic, const Stop& stop);

}  // namespace tutti::bounds
