#include "symmetry/symmetry_search.hpp"

#include "core/generators/full.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "symmetry/orbits.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/symmetric_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;

namespace {

constexpr Wire kUnit{Ticks(0), Ticks(1), {}};
const std::vector<Wire> kUnits{kUnit};
using Dims = std::vector<std::uint64_t>;

/// The number of elements, after checking that they are symmetries.
std::uint32_t found(const TopologyParts& parts, CollectiveKind kind = CollectiveKind::AllGather) {
    const Instance instance = on_all_npus(parts, kind);
    const auto generators = symmetry::digit_shifts(instance);
    const symmetry::GroupAction action(generators, parts.npus);
    const symmetry::LinkOrbits orbits(instance.topology(), action);
    CHECK(orbits.size() * action.size() == parts.links.size());
    return action.size();
}

bool is_ring(const TopologyParts& parts) {
    const Topology topology(parts);
    const auto ring = symmetry::ring_through_grid(topology);
    if (!ring) return false;
    const std::vector<symmetry::Generator> generators{*ring};
    const symmetry::GroupAction action(generators, parts.npus);
    CHECK(action.size() == parts.npus);
    CHECK(symmetry::LinkOrbits(topology, action).size() >= 2);
    return true;
}

}  // namespace

TEST_CASE("regular networks have as many shifts as NPUs") {
    for (const std::uint64_t n : {2U, 3U, 7U, 12U, 64U}) CHECK(found(generators::ring(n, kUnit)) == n);
    CHECK(found(generators::ring(9, kUnit, generators::Direction::OneWay)) == 9);
    CHECK(found(generators::torus(Dims{4, 4}, kUnits)) == 16);
    CHECK(found(generators::torus(Dims{3, 5, 2}, kUnits)) == 30);
    CHECK(found(generators::torus(Dims{4, 8}, std::vector<Wire>{kUnit, {Ticks(1), Ticks(2), {}}})) == 32);
    CHECK(found(generators::hypercube(6, kUnits)) == 64);
    CHECK(found(generators::fully_connected(12, kUnit)) == 12);
    CHECK(
        symmetry::digit_shifts(on_all_npus(generators::fully_connected(12, kUnit), CollectiveKind::AllGather))
            .size() == 1);
}

TEST_CASE("partly regular networks have some shifts") {
    // Rings of 4, joined in a line of 3.
    Net net(12);
    for (std::size_t n = 0; n < 12; ++n) {
        net.both(n, n / 4 * 4 + (n + 1) % 4);
        if (n + 4 < 12) net.both(n, n + 4);
    }
    CHECK(found(net.parts()) == 4);
    CHECK(found(generators::mesh(Dims{3, 3}, kUnits)) == 1);
    auto degraded = generators::torus(Dims{4, 4}, kUnits);
    degraded.links[3].wire.beta = Ticks(2);
    CHECK(found(degraded) == 1);
}

TEST_CASE("shifts keep the demands, not only the links") {
    const TopologyParts torus = generators::torus(Dims{4, 4}, kUnits);
    CHECK(found(torus, CollectiveKind::AllToAll) == 16);
    CHECK(symmetry::digit_shifts(on_all_npus(torus, CollectiveKind::Broadcast)).empty());
    InstanceParts parts{"x",
                        torus,
                        {{"row 0 and row 2", nodes({0, 1, 2, 3, 8, 9, 10, 11})}},
                        {collective(CollectiveKind::AllGather)}};
    const auto generators = symmetry::digit_shifts(Instance(parts));
    // Along the rows, and from row to row by two: then all but one bit of the number move.
    REQUIRE(generators.size() == 2);
    CHECK(generators[0].order == 4);
    CHECK(generators[0].images[0] == NodeId(1));
    CHECK(generators[1].order == 2);
    CHECK(generators[1].images[0] == NodeId(8));
}

TEST_CASE("the shift search declines networks with switches") {
    CHECK(symmetry::digit_shifts(on_all(star(4, {}), {collective(CollectiveKind::AllGather)})).empty());
    CHECK_FALSE(is_ring(star(4, {}).parts()));
}

TEST_CASE("a ring leads through every grid with an even number of NPUs") {
    for (const Dims& dims : std::vector<Dims>{{2, 2},
                                              {2, 3},
                                              {3, 2},
                                              {4, 4},
                                              {5, 6},
                                              {6, 5},
                                              {3, 4, 5},
                                              {3, 3, 2},
                                              {2, 3, 3},
                                              {2, 2, 2, 3},
                                              {4, 7, 3}})
        CHECK(is_ring(generators::mesh(dims, kUnits)));
    CHECK_FALSE(is_ring(generators::mesh(Dims{3, 3}, kUnits)));
    CHECK_FALSE(is_ring(generators::line(6, kUnit)));
}

TEST_CASE("a ring takes only links that are there and alike") {
    auto grid = generators::mesh(Dims{4, 4}, kUnits);
    const auto broken = std::ranges::find(grid.links, Link{NodeId(0), NodeId(1), kUnit});
    REQUIRE(broken != grid.links.end());
    broken->wire.beta = Ticks(2);
    CHECK_FALSE(is_ring(grid));
    grid.links.erase(broken);
    CHECK_FALSE(is_ring(grid));
}
