#include "heuristics/ring/ring.hpp"

#include "core/generators/fat_tree.hpp"
#include "core/generators/mesh_torus.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <atomic>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

Instance on_network(TopologyParts topology, CollectiveKind kind) {
    InstanceParts parts;
    parts.name = "test";
    parts.topology = std::move(topology);
    std::vector<NodeId> members;
    for (std::size_t n = 0; n < parts.topology.npus; ++n) members.emplace_back(n);
    parts.groups = {{"g", std::move(members)}};
    parts.collectives = {collective(kind)};
    return Instance(std::move(parts));
}

const std::vector<Wire> kUnit{{Ticks(0), Ticks(1), {}}};

}  // namespace

TEST_CASE("rings make a valid schedule for every instance in which members reach each other") {
    std::uint64_t made = 0, declined = 0;
    for_seeds(cases(300), [&](Rng& rng, std::uint64_t) {
        const Instance instance(random_instance(rng));
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        const auto schedule = ring_schedule(instance, {});
        CHECK(schedule.has_value() == why_no_ring(instance).empty());
        if (!schedule) {
            ++declined;
            return;
        }
        ++made;
        CHECK(broken(instance, *schedule).empty());
    });
    CHECK(made > declined);
}

TEST_CASE("a ring adds contributions once where its paths lead through other holders") {
    // On a grid neighbours on the ring need not be neighbours in the network.
    const auto grid = [](CollectiveKind kind) {
        return on_network(generators::mesh(std::vector<std::uint64_t>{3, 5}, kUnit), kind);
    };
    for (const CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather}) {
        const Instance instance = grid(kind);
        const auto schedule = ring_schedule(instance, {});
        REQUIRE(schedule);
        CHECK(broken(instance, *schedule).empty());
    }
}

TEST_CASE("a ring of n neighbours takes as long as its ports need") {
    // Both ways around, each NPU gets a chunk from either side in each tick.
    const Instance instance =
        on_network(generators::torus(std::vector<std::uint64_t>{9}, kUnit), CollectiveKind::AllGather);
    CHECK(ring_schedule(instance, {})->makespan == Ticks(4));
}

TEST_CASE("a ring's schedule is the same read in parts as in whole, in order of start") {
    const Instance instance = on_network(generators::fat_tree(4, 3, kUnit, {}), CollectiveKind::AllReduce);
    RingSchedule source(instance, {});
    REQUIRE(source.why_none().empty());
    const Verdict verdict = verify::verify(instance, source);
    CHECK(source.is_complete());
    CHECK(verdict.valid());
    const auto held = ring_schedule(instance, {});
    CHECK(held->sends.size() == verdict.sends);
    CHECK(held->makespan == verdict.makespan);
}

TEST_CASE("a ring that is stopped says that it is not complete") {
    const std::atomic<bool> raised{true};
    const Instance instance = on_network(generators::fat_tree(2, 2, kUnit, {}), CollectiveKind::AllGather);
    RingSchedule source(instance, Stop({}, &raised));
    while (!source.next().empty()) {
    }
    CHECK_FALSE(source.is_complete());
    CHECK_FALSE(ring_schedule(instance, Stop({}, &raised)));
}
