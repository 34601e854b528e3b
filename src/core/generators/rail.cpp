#include "core/generators/rail.hpp"

#include "core/generators/build.hpp"
#include "core/generators/cluster.hpp"
#include "core/generators/star.hpp"

namespace tutti::generators {

// A rail cluster is a cluster whose nodes are stars and whose rails are stars.
TopologyParts rail(const Rail& shape) {
    expect_between(shape.nodes, 1, kMaxNodes, "/nodes");
    expect_between(shape.npus_per_node, 1, kMaxNodes, "/npus_per_node");
    const std::uint64_t npus = capped_product(shape.nodes, shape.npus_per_node);
    const std::uint64_t switches = capped_sum(shape.nodes, shape.npus_per_node);
    expect_fits(capped_sum(npus, switches), capped_product(4, npus), "/npus_per_node");
    return cluster({.node = star(shape.npus_per_node, shape.node_wire, shape.rule),
                    .nodes = shape.nodes,
                    .nics = {},
                    .network = star(shape.nodes, shape.rail_wire, shape.rule),
                    .planes = Planes::Rails});
}

}  // namespace tutti::generators
