// The dragonfly of Kim, Dally, Scott and Abts ("Technology-driven, highly-scalable dragonfly topology", ISCA
// 2008). A group has ports = routers_per_group * global_links_per_router global ports; port j belongs to
// router j / global_links_per_router. The ports are dealt out in rounds of groups - 1: in each round,
// position o-1 of group i leads to group i+o (modulo groups). Seen from there, group i is at distance
// groups-o, so the cable ends at position groups-o-1 of the same round. Only whole rounds are wired; a
// partial one could not treat all pairs of groups alike.

#include "core/generators/dragonfly.hpp"

#include "core/generators/build.hpp"

#include <fmt/format.h>

namespace tutti::generators {
namespace {

struct Counts {
    std::uint64_t routers = 0, npus = 0, links = 0;
    std::uint64_t rounds = 0;  ///< global links between any two groups
};

Counts checked_counts(const Dragonfly& shape) {
    expect_between(shape.groups, 1, kMaxNodes, "/groups");
    expect_between(shape.routers_per_group, 1, kMaxNodes, "/routers_per_group");
    expect_between(shape.npus_per_router, 1, kMaxNodes, "/npus_per_router");
    expect_between(shape.global_links_per_router, 0, kMaxLinks, "/global_links_per_router");
    Counts counts;
    counts.routers = capped_product(shape.groups, shape.routers_per_group);
    expect_fits(counts.routers, 0, "/routers_per_group");
    counts.npus = capped_product(counts.routers, shape.npus_per_router);
    expect_fits(capped_sum(counts.npus, counts.routers), 0, "/npus_per_router");

    counts.links = capped_sum(2 * counts.npus, capped_product(counts.routers, shape.routers_per_group - 1));
    expect_fits(0, counts.links, "/routers_per_group");
    if (shape.groups == 1) return counts;
    const std::uint64_t ports = shape.routers_per_group * shape.global_links_per_router;
    counts.rounds = ports / (shape.groups - 1);
    if (counts.rounds == 0) {
        throw InputError(
            fmt::format("expected at most {} groups: a group has {} routers with {} global links each, "
                        "found {} groups",
                        ports + 1, shape.routers_per_group, shape.global_links_per_router, shape.groups),
            "/groups");
    }
    const std::uint64_t pairs_of_groups = shape.groups * (shape.groups - 1);
    counts.links = capped_sum(counts.links, capped_product(pairs_of_groups, counts.rounds));
    expect_fits(0, counts.links, "/global_links_per_router");
    return counts;
}

void add_global_links(std::vector<Link>& links, const Dragonfly& shape, const Counts& counts) {
    const auto router = [&](std::size_t group, std::size_t port) {
        return counts.npus + group * shape.routers_per_group + port / shape.global_links_per_router;
    };
    const std::size_t distances = shape.groups - 1;
    for (std::size_t group = 0; group < shape.groups; ++group) {
        for (std::size_t port = 0; port < counts.rounds * distances; ++port) {
            const std::size_t distance = port % distances + 1;
            const std::size_t peer = (group + distance) % shape.groups;
            if (peer < group) continue;
            const std::size_t peer_port = port / distances * distances + (shape.groups - distance - 1);
            add_pair(links, router(group, port), router(peer, peer_port), shape.global_wire);
        }
    }
}

}  // namespace

TopologyParts dragonfly(const Dragonfly& shape) {
    const Counts counts = checked_counts(shape);
    TopologyParts parts;
    parts.npus = static_cast<std::uint32_t>(counts.npus);
    parts.switches.assign(counts.routers, shape.rule);
    parts.links.reserve(counts.links);
    for (std::size_t npu = 0; npu < counts.npus; ++npu) {
        add_pair(parts.links, npu, counts.npus + npu / shape.npus_per_router, shape.npu_wire);
    }
    for (std::size_t group = 0; group < shape.groups; ++group) {
        const std::size_t first = counts.npus + group * shape.routers_per_group;
        for (std::size_t a = 0; a < shape.routers_per_group; ++a) {
            for (std::size_t b = a + 1; b < shape.routers_per_group; ++b) {
                add_pair(parts.links, first + a, first + b, shape.local_wire);
            }
        }
    }
    if (shape.groups > 1) add_global_links(parts.links, shape, counts);
    return parts;
}

}  // namespace tutti::generators
