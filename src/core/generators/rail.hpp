#pragma once

#include "core/topology.hpp"

#include <cstdint>

namespace tutti::generators {

/// A rail-optimised cluster of switched nodes.
struct Rail {
    std::uint64_t nodes = 1;
    std::uint64_t npus_per_node = 1;
    Wire node_wire;  ///< NPU to node switch
    Wire rail_wire;  ///< NPU to rail switch
    SwitchRule rule;
};

/// The NPUs of a node share a node switch, NPU i of every node is on rail switch i. NPUs node by node; then
/// the node switches; then the rail switches. Links: node by node, NPU by NPU to the node switch; then rail
/// by rail, node by node to the rail switch; each both ways.
[[nodiscard]] TopologyParts rail(const Rail& shape);

}  // namespace tutti::generators
