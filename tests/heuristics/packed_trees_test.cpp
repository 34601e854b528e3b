// Broadcasts along trees that share no link: depths, and what it refuses.

#include "heuristics/trees/packed_trees.hpp"

#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/spread_case.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace tutti;
using namespace tutti::heuristics;
using test::SpreadCase;

namespace {

constexpr Wire kWire{Ticks(1), Ticks(1), {}};

InstanceParts broadcast(TopologyParts topology, std::size_t root, std::uint64_t chunks) {
    InstanceParts parts;
    parts.groups = {{"all", {}}};
    for (std::size_t v = 0; v < topology.npus; ++v) parts.groups[0].members.emplace_back(v);
    parts.topology = std::move(topology);
    parts.collectives = {test::collective(CollectiveKind::Broadcast)};
    parts.collectives[0].chunks = chunks;
    parts.collectives[0].root = Rank(root);
    return parts;
}

}  // namespace

TEST_CASE("two trees as deep as the farthest corner broadcast on a mesh in the least time") {
    const std::vector<std::uint64_t> dims{16, 16};
    const SpreadCase given(broadcast(generators::mesh(dims, std::vector{kWire}), 119, 8));
    Rng rng(1);
    const auto solution = packed_trees(given.problem, rng, Stop(), 16);
    REQUIRE(given.is_valid(solution));
    // 16 hops of 2 ticks to the corner, whose two links then bring four chunks each.
    CHECK(solution->makespan == Ticks(35));
    std::set<std::pair<std::size_t, std::size_t>> uses;
    for (const Transfer& transfer : solution->transfers)
        uses.emplace(transfer.hop.index(), transfer.chunk.index());
    CHECK(uses.size() == solution->transfers.size());
    CHECK(uses.size() == 8 * 255);
}

TEST_CASE("as many trees as the root has links where there are many chunks") {
    // Three trees on a 3-cube, the deepest of d + 1 = 4 hops (Johnsson and Ho 1989): 8 chunks each.
    const SpreadCase given(broadcast(generators::hypercube(3, std::vector{kWire}), 0, 24));
    Rng rng(1);
    const auto solution = packed_trees(given.problem, rng, Stop(), 16);
    REQUIRE(given.is_valid(solution));
    CHECK(solution->makespan <= Ticks(4 * 2 + 7));
}

TEST_CASE("a slow link sets the pace of one tree only") {
    // A ring of three, one direction ten times as slow as the other.
    test::Net net(3);
    for (std::size_t v = 0; v < 3; ++v) net.link(v, (v + 1) % 3, 0, 1).link((v + 1) % 3, v, 0, 10);
    const SpreadCase given(broadcast(net.parts(), 0, 22));
    Rng rng(1);
    const auto solution = packed_trees(given.problem, rng, Stop(), 4);
    REQUIRE(given.is_valid(solution));
    CHECK(solution->makespan < Ticks(23));  // all 22 around the quick way take 2 + 21
}

TEST_CASE("trees are not packed where chunks have different holders or switches are between") {
    InstanceParts parts = broadcast(generators::hypercube(2, std::vector{kWire}), 0, 4);
    parts.collectives[0] = test::collective(CollectiveKind::AllGather);
    CHECK_FALSE(why_no_packed_trees(SpreadCase(parts).problem).empty());
    CHECK_FALSE(why_no_packed_trees(SpreadCase(broadcast(test::star(4, {}).parts(), 0, 4)).problem).empty());
}
