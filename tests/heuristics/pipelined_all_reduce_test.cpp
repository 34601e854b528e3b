// All-reduce as one flow: shorter than any two phases on uneven networks.

#include "core/generators/mesh_torus.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

using namespace tutti;

namespace {

Instance all_reduce(TopologyParts topology, std::uint64_t chunks) {
    InstanceParts parts;
    parts.name = "all-reduce";
    std::vector<std::size_t> members(topology.npus);
    for (std::size_t i = 0; i < members.size(); ++i) members[i] = i;
    parts.groups = {{"all", test::nodes(members)}};
    parts.topology = std::move(topology);
    parts.collectives = {test::collective(CollectiveKind::AllReduce)};
    parts.collectives[0].chunks = chunks;
    return Instance(std::move(parts));
}

TopologyParts mesh(const std::vector<std::uint64_t>& dims, std::int64_t alpha = 0) {
    return generators::mesh(dims, std::vector<Wire>{{Ticks(alpha), Ticks(1), {}}});
}

}  // namespace

TEST_CASE("an all-reduce on a mesh is shorter than its halves one after the other could ever be") {
    // A corner gives 15 of 16 shares of 8 chunks over two links, then takes as many: 60 + 60 at least.
    const Instance instance = all_reduce(mesh({4, 4}), 8);
    const auto schedule = heuristics::greedy(instance, {});
    REQUIRE(schedule);
    CHECK(verify::verify(instance, *schedule).valid());
    CHECK(schedule->makespan < Ticks(120));
}

TEST_CASE("sums that overlap are valid on whatever mesh, with latency and failed links") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const std::uint64_t rows = 2 + rng.below(3);
        const std::uint64_t columns = 2 + rng.below(4);
        TopologyParts topology = mesh({rows, columns}, static_cast<std::int64_t>(rng.below(3)));
        // A cable less; the corner of a grid keeps another.
        topology.links.erase(topology.links.begin(), topology.links.begin() + 2);
        const Instance instance = all_reduce(std::move(topology), 1 + rng.below(6));
        const auto schedule = heuristics::greedy(instance, {.seed = seed});
        REQUIRE(schedule);
        const Verdict verdict = verify::verify(instance, *schedule);
        CHECK(verdict.valid());
        CHECK(verdict.makespan == schedule->makespan);
    }
}
