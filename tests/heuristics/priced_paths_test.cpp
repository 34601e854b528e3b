#include "heuristics/paths/priced_paths.hpp"

#include "core/generators/mesh_torus.hpp"
#include "tests/heuristics/spread_problems.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::heuristics;
using test::collective;

namespace {

Instance all_to_all(TopologyParts topology) {
    InstanceParts parts;
    parts.name = "test";
    parts.topology = std::move(topology);
    std::vector<NodeId> members;
    for (std::size_t n = 0; n < parts.topology.npus; ++n) members.emplace_back(n);
    parts.groups = {{"g", std::move(members)}};
    parts.collectives = {collective(CollectiveKind::AllToAll)};
    return Instance(std::move(parts));
}

SpreadSolution routed(const HopGraph& graph, Ticks target) {
    const auto problem = test::spread_problem(graph, target);
    Rng rng(1);
    auto solution = route_paths(problem, rng, Stop());
    REQUIRE(solution);
    CHECK(test::complaint(graph, *solution) == "");
    return std::move(*solution);
}

}  // namespace

TEST_CASE("priced paths are within 3 % of the cut bound on meshes and tori, without knowing it") {
    const std::vector<Wire> wires{{Ticks(0), Ticks(1), {}}};
    {
        const Instance instance = all_to_all(generators::mesh(std::vector<std::uint64_t>{8, 8}, wires));
        const HopGraph graph(instance);
        // 32 NPUs on either side of 8 links: 128 chunks over each.
        CHECK(routed(graph, Ticks(0)).makespan <= Ticks(131));
    }
    {
        const Instance instance = all_to_all(generators::torus(std::vector<std::uint64_t>{8, 8}, wires));
        const HopGraph graph(instance);
        CHECK(routed(graph, Ticks(64)).makespan <= Ticks(65));
    }
}

TEST_CASE("priced paths balance links of different speed, in ticks of any size") {
    for (const std::int64_t unit : {1, 1'000'003}) {
        const std::vector<Wire> wires{{Ticks(5 * unit), Ticks(10 * unit), {}},
                                      {Ticks(20 * unit), Ticks(40 * unit), {}}};
        const Instance instance = all_to_all(generators::torus(std::vector<std::uint64_t>{4, 8}, wires));
        const HopGraph graph(instance);
        // Each half ring of the slow dimension: 16 NPUs to 16 NPUs over 2 * 4 links of 40.
        CHECK(routed(graph, Ticks(0)).makespan <= Ticks(unit * 1280 * 106 / 100));
    }
}

TEST_CASE("priced paths leave the shortest paths where those are overloaded") {
    // Both have three links, but only one joins them.
    const std::vector<Wire> wires{{Ticks(0), Ticks(1), {}}};
    InstanceParts parts;
    parts.topology = generators::mesh(std::vector<std::uint64_t>{2, 6}, wires);
    parts.groups = {{"pair", {NodeId(2), NodeId(3)}}};
    Collective kind = collective(CollectiveKind::Permute);
    kind.chunks = 20;
    kind.pairs = {{Rank(0), Rank(1)}};
    parts.collectives = {kind};
    const Instance instance(std::move(parts));
    const HopGraph graph(instance);
    CHECK(routed(graph, Ticks(0)).makespan <= Ticks(12));
}

TEST_CASE("priced paths keep to the group where only members may forward") {
    Collective kind = collective(CollectiveKind::Permute);
    kind.pairs = {{Rank(0), Rank(1)}};
    kind.chunks = 6;
    kind.forwarding = Forwarding::Group;
    const Instance instance = test::on_group(test::Net(3).both(0, 1).both(0, 2).both(2, 1), {0, 1}, {kind});
    const HopGraph graph(instance);
    CHECK(routed(graph, Ticks(0)).makespan == Ticks(6));
}

TEST_CASE("priced paths decline chunks that several nodes want") {
    Collective kind = collective(CollectiveKind::Broadcast);
    kind.root = Rank(0);
    const Instance instance = test::on_all(test::line(3), {kind});
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph);
    Rng rng(1);
    CHECK_FALSE(route_paths(problem, rng, Stop()));
}

TEST_CASE("the same seed gives the same paths and times") {
    const Instance instance = all_to_all(test::star(7, {}, 1).parts());
    const HopGraph graph(instance);
    const auto first = routed(graph, Ticks(0));
    const auto second = routed(graph, Ticks(0));
    REQUIRE(first.transfers.size() == second.transfers.size());
    CHECK(std::ranges::equal(first.transfers, second.transfers, [](const Transfer& a, const Transfer& b) {
        return a.hop == b.hop && a.chunk == b.chunk && a.start == b.start;
    }));
}

TEST_CASE("priced paths are valid on random networks of every kind") {
    std::size_t solved = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        InstanceParts parts = test::random_instance(rng);
        std::erase_if(parts.collectives, [](const Collective& c) {
            using enum CollectiveKind;
            return c.kind != Scatter && c.kind != Gather && c.kind != AllToAll && c.kind != AllToAllV &&
                   c.kind != Permute && c.kind != AllToNext;
        });
        if (parts.collectives.empty()) continue;
        const Instance instance(std::move(parts));
        if (!test::is_feasible(instance)) continue;
        const HopGraph graph(instance);
        const auto problem = test::spread_problem(graph);
        const auto solution = route_paths(problem, rng, Stop());
        REQUIRE(solution);
        CHECK(test::complaint(graph, *solution) == "");
        ++solved;
    }
    CHECK(solved > 50);
}
