// Sums dimension by dimension: as many hops as the network is wide.

#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "heuristics/exchange/exchanges.hpp"
#include "heuristics/exchange/factors.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace tutti;
using namespace tutti::heuristics;
using test::collective;

namespace {

constexpr std::int64_t kAlpha = 100, kBeta = 1;
const Wire kWire{Ticks(kAlpha), Ticks(kBeta), {}};

TopologyParts ring(std::uint64_t npus) { return generators::ring(static_cast<std::uint32_t>(npus), kWire); }
TopologyParts torus(const std::vector<std::uint64_t>& dims) {
    return generators::torus(dims, std::vector(dims.size(), kWire));
}
TopologyParts mesh(const std::vector<std::uint64_t>& dims) {
    return generators::mesh(dims, std::vector(dims.size(), kWire));
}

Instance on(TopologyParts topology, const Collective& kind) {
    InstanceParts parts;
    parts.name = "test";
    parts.topology = std::move(topology);
    std::vector<NodeId> members;
    for (std::size_t n = 0; n < parts.topology.npus; ++n) members.emplace_back(n);
    parts.groups = {{"g", std::move(members)}};
    parts.collectives = {kind};
    return Instance(std::move(parts));
}

/// One sum that all have a part of and all want.
Instance one_sum(TopologyParts topology) {
    Collective kind = collective(CollectiveKind::Custom);
    std::vector<NodeId> all;
    for (std::size_t n = 0; n < topology.npus; ++n) all.emplace_back(n);
    kind.demands = {{all, all, true, {}}};
    return on(std::move(topology), kind);
}

/// The makespan of its schedule, which both checkers find valid; 0 if there is none.
std::int64_t takes(const Instance& instance) {
    const auto schedule = dimension_exchange(Exchanges(instance, {}), Ticks(0), {});
    if (!schedule) return 0;
    CHECK(test::broken(instance, *schedule).empty());
    return schedule->makespan.count();
}

std::int64_t hops(std::int64_t count) { return count * (kAlpha + kBeta); }

}  // namespace

TEST_CASE("dimension exchange: an even ring takes half as many hops as it has nodes, its bound") {
    for (const std::uint64_t npus : {4U, 6U, 8U, 10U, 12U, 14U, 16U, 22U, 32U, 50U, 64U}) {
        CAPTURE(npus);
        CHECK(takes(one_sum(ring(npus))) == hops(static_cast<std::int64_t>(npus) / 2));
    }
}

TEST_CASE("dimension exchange: tori, meshes and hypercubes take as many hops as they are wide") {
    CHECK(takes(one_sum(torus({4, 8}))) == hops(2 + 4));
    CHECK(takes(one_sum(torus({6, 10}))) == hops(3 + 5));
    CHECK(takes(one_sum(torus({8, 8, 2}))) == hops(4 + 4 + 1));
    CHECK(takes(one_sum(mesh({3, 5}))) == hops(2 + 4));
    CHECK(takes(one_sum(mesh({2, 4, 3}))) == hops(1 + 3 + 2));
    CHECK(takes(one_sum(generators::hypercube(4, std::vector{kWire}))) == hops(4));
}

TEST_CASE("dimension exchange: odd rings are cut open") {
    for (const std::uint64_t npus : {5U, 7U, 13U}) {
        CAPTURE(npus);
        CHECK(takes(one_sum(ring(npus))) == hops(static_cast<std::int64_t>(npus) - 1));
    }
    CHECK(takes(one_sum(torus({5, 8}))) == hops(4 + 4));
}

TEST_CASE("dimension exchange: the chunks of an all-reduce take different links at a time") {
    // Each link carries half of the chunks in every hop.
    const Instance small = on(ring(16), collective(CollectiveKind::AllReduce));
    CHECK(takes(small) <= hops(8) + 8 * kBeta);
    Collective several = collective(CollectiveKind::AllReduce);
    several.chunks = 3;
    for (auto& topology : {torus({4, 4}), torus({3, 8}), mesh({4, 3})}) {
        const Instance instance = on(topology, several);
        CHECK(takes(instance) > 0);
    }
}

TEST_CASE("dimension exchange: values that pass each other never wait until one is replaced") {
    // Where links are slower than they are long, swaps of many chunks stand in line at every link.
    for (const std::int64_t beta : {1, 7, 60}) {
        Collective kind = collective(CollectiveKind::AllReduce);
        kind.chunks = 2;
        for (const std::uint64_t npus : {10U, 16U}) {
            TopologyParts topology = generators::ring(npus, {Ticks(3), Ticks(beta), {}});
            CHECK(takes(on(topology, kind)) > 0);
            topology.busy = Busy::AlphaPlusBeta;
            CHECK(takes(on(topology, kind)) > 0);
        }
    }
}

TEST_CASE("dimension exchange: there is none where links make no product, or not all members want the sum") {
    TopologyParts chord = ring(8);
    chord.links.push_back({NodeId(0), NodeId(3), Ticks(1), Ticks(1), {}});
    chord.links.push_back({NodeId(3), NodeId(0), Ticks(1), Ticks(1), {}});
    CHECK(takes(one_sum(std::move(chord))) == 0);
    Collective one = collective(CollectiveKind::Reduce);
    one.root = Rank(0);
    CHECK(takes(on(ring(8), one)) == 0);
    // Two that reach each other through a third only, and two that only one can send to the other.
    CHECK(takes(test::on_group(test::line(3), {0, 2}, {collective(CollectiveKind::AllReduce)})) == 0);
    test::Net one_way(3);
    one_way.link(0, 1).link(1, 2).link(2, 0);
    CHECK(takes(test::on_all(one_way, {collective(CollectiveKind::AllReduce)})) == 0);
    // A mesh that lacks a corner: its dimensions are lines, but not all of them have as many nodes.
    test::Net corner(8);
    corner.both(0, 1).both(1, 2).both(3, 4).both(4, 5).both(6, 7);
    corner.both(0, 3).both(3, 6).both(1, 4).both(4, 7).both(2, 5);
    CHECK(takes(one_sum(corner.parts())) == 0);
}

TEST_CASE("factors are found from links alone") {
    const auto sizes = [](const TopologyParts& topology) {
        const Instance instance = one_sum(topology);
        const MessageGraph graph(instance);
        std::vector<NodeId> all;
        for (std::size_t n = 0; n < topology.npus; ++n) all.emplace_back(n);
        std::vector<std::size_t> found;
        const auto factors = factors_of(graph, all);
        if (factors) {
            for (const Factor& factor : *factors) found.push_back(factor.front().nodes.size());
        }
        std::ranges::sort(found);
        return found;
    };
    CHECK(sizes(torus({5, 8})) == std::vector<std::size_t>{5, 8});
    CHECK(sizes(torus({4, 6})) == std::vector<std::size_t>{2, 2, 6});  // a ring of four is 2x2
    CHECK(sizes(mesh({3, 4, 2})) == std::vector<std::size_t>{2, 3, 4});
    CHECK(sizes(test::line(7).parts()) == std::vector<std::size_t>{7});
    test::Net tripod(4);
    tripod.both(0, 1).both(0, 2).both(0, 3);
    CHECK(sizes(tripod.parts()).empty());
}
