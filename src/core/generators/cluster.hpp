#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <vector>

namespace tutti::generators {

/// How the nodes' NICs share the network between nodes.
enum class Planes {
    Rails,  ///< one copy of the network for each NIC number: NIC r of every node is on copy r
    Shared  ///< one network over all NICs of all nodes
};

/// Copies of a node, joined by a network. A NIC is an NPU of the node; the network's NPUs are the NICs
/// themselves.
struct Cluster {
    TopologyParts node;
    std::uint64_t nodes = 1;
    std::vector<std::uint64_t> nics;  ///< NPU numbers within the node; empty: all of them
    TopologyParts network;            ///< of `nodes` NPUs (rails), or `nodes` * NICs (shared: node by node)
    Planes planes = Planes::Rails;
};

/// How many NPUs the network must have, so that the caller can generate it. Checks `node`, `nodes` and `nics`
/// only.
[[nodiscard]] std::uint64_t network_npus(const Cluster& cluster);

/// NPUs are numbered node by node; then the switches of the nodes, node by node; then those of the networks,
/// plane by plane. Links in the same order, those of each copy as its generator lists them.
[[nodiscard]] TopologyParts cluster(const Cluster& cluster);

}  // namespace tutti::generators
