#include "core/generators/cluster.hpp"

#include "core/generators/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::generators {
namespace {

/// The NICs as given, or every NPU of the node. Checks that each exists and none is listed twice.
std::vector<std::uint64_t> checked_nics(const Cluster& cluster) {
    std::vector<std::uint64_t> nics = cluster.nics;
    if (nics.empty()) {
        nics.resize(cluster.node.npus);
        std::iota(nics.begin(), nics.end(), std::uint64_t{0});
    }
    std::vector<bool> seen(cluster.node.npus, false);
    for (std::size_t i = 0; i < nics.size(); ++i) {
        const std::string place = fmt::format("/nics/{}", i);
        expect_between(nics[i], 0, cluster.node.npus - 1, place);
        if (seen[nics[i]]) throw InputError(fmt::format("NPU {} is listed twice", nics[i]), place);
        seen[nics[i]] = true;
    }
    return nics;
}

/// Copies a part's switches and links into the whole; `node_of` says which node of the whole a node of the
/// part is.
template <class NodeOf>
void add_copy(TopologyParts& whole, const TopologyParts& part, const NodeOf& node_of) {
    whole.switches.insert(whole.switches.end(), part.switches.begin(), part.switches.end());
    for (const Link& link : part.links) {
        whole.links.push_back(
            {NodeId(node_of(link.src.index())), NodeId(node_of(link.dst.index())), link.wire});
    }
}

}  // namespace

std::uint64_t network_npus(const Cluster& cluster) {
    expect_between(cluster.node.npus, 1, kMaxNodes, "/node");
    expect_between(cluster.nodes, 1, kMaxNodes, "/nodes");
    const std::size_t nics = checked_nics(cluster).size();
    const std::uint64_t copies_links = capped_product(cluster.nodes, cluster.node.links.size());
    expect_fits(capped_product(cluster.nodes, cluster.node.nodes()), copies_links, "/nodes");
    return cluster.planes == Planes::Rails ? cluster.nodes : cluster.nodes * nics;
}

TopologyParts cluster(const Cluster& cluster) {
    const std::uint64_t endpoints = network_npus(cluster);
    if (cluster.network.npus != endpoints) {
        throw InputError(fmt::format("expected a network of {} NPUs ({}), found {}", endpoints,
                                     cluster.planes == Planes::Rails ? "one for each node"
                                                                     : "one for each NIC of each node",
                                     cluster.network.npus),
                         "/network");
    }
    const std::vector<std::uint64_t> nics = checked_nics(cluster);
    const TopologyParts& node = cluster.node;
    const TopologyParts& network = cluster.network;
    const std::size_t planes = cluster.planes == Planes::Rails ? nics.size() : 1;
    const std::uint64_t node_count =
        cluster.nodes * node.nodes() + capped_product(planes, network.switches.size());
    const std::uint64_t link_count =
        cluster.nodes * node.links.size() + capped_product(planes, network.links.size());
    expect_fits(node_count, link_count, "/network");

    TopologyParts whole;
    whole.npus = static_cast<std::uint32_t>(cluster.nodes * node.npus);
    whole.switches.reserve(node_count - whole.npus);
    whole.links.reserve(link_count);
    for (std::size_t copy = 0; copy < cluster.nodes; ++copy) {
        const std::size_t first_npu = copy * node.npus;
        const std::size_t first_switch = whole.nodes();
        add_copy(whole, node, [&](std::size_t local) {
            return local < node.npus ? first_npu + local : first_switch + (local - node.npus);
        });
    }
    for (std::size_t plane = 0; plane < planes; ++plane) {
        const std::size_t first_switch = whole.nodes();
        add_copy(whole, network, [&](std::size_t endpoint) {
            if (endpoint >= network.npus) return first_switch + (endpoint - network.npus);
            if (cluster.planes == Planes::Rails) return endpoint * node.npus + nics[plane];
            return endpoint / nics.size() * node.npus + nics[endpoint % nics.size()];
        });
    }
    return whole;
}

}  // namespace tutti::generators
