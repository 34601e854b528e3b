#include "heuristics/levels/broadcast.hpp"

#include "core/generators/fat_tree.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/star.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <bit>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

using Kind = CollectiveKind;

Instance rooted(TopologyParts topology, Kind kind, std::uint64_t chunks) {
    InstanceParts parts;
    parts.name = "rooted";
    parts.topology = std::move(topology);
    parts.groups = {{"g", {}}};
    for (std::size_t n = 0; n < parts.topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {collective(kind)};
    parts.collectives[0].chunks = chunks;
    parts.collectives[0].root = Rank(1);
    return Instance(std::move(parts));
}

std::int64_t broadcast_on(const Instance& instance) {
    const auto schedule = broadcast_rounds(instance, {});
    REQUIRE(schedule);
    CHECK(broken(instance, *schedule).empty());
    return true_makespan(instance, *schedule);
}

}  // namespace

TEST_CASE("broadcasts and reductions to one are valid on random clusters") {
    std::uint64_t made = 0;
    for_seeds(cases(30), [&](Rng& rng, std::uint64_t) {
        InstanceParts parts = random_cluster(rng);
        for (Collective& one : parts.collectives) {
            one.kind = rng.below(2) == 0 ? Kind::Broadcast : Kind::Reduce;
            one.root = Rank(0);
        }
        const Instance instance(parts);
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        const auto schedule = broadcast_rounds(instance, {});
        if (!schedule) return;
        ++made;
        CHECK(broken(instance, *schedule).empty());
    });
    CHECK(made > cases(30) / 4);
}

TEST_CASE("a broadcast on a crossbar takes c - 1 + ceil(log2 n) rounds, backwards as well") {
    for (const std::uint64_t npus : {2U, 5U, 10U, 16U, 19U}) {
        for (const std::uint64_t chunks : {1U, 5U}) {
            CAPTURE(npus);
            CAPTURE(chunks);
            const auto star = generators::star(npus, {Ticks(0), Ticks(1'000), {}}, {.cut_through = true});
            const auto rounds = static_cast<std::int64_t>(chunks - 1 + std::bit_width(npus - 1));
            CHECK(broadcast_on(rooted(star, Kind::Broadcast, chunks)) == rounds * 1'000);
            // Contributions to one sum are kept a tick apart in a switch that holds nothing.
            const std::int64_t time = broadcast_on(rooted(star, Kind::Reduce, chunks));
            CHECK(time >= rounds * 1'000);
            CHECK(time < rounds * 1'000 + 200);
        }
    }
}

TEST_CASE("a broadcast leaves a node through all its NICs") {
    const std::int64_t out = 100;
    const auto rails =
        generators::rail({6, 3, {Ticks(1), Ticks(2), {}}, {Ticks(1), Ticks(out), {}}, {.cut_through = true}});
    // One NIC alone would need a wave for each of the twelve chunks.
    CHECK(broadcast_on(rooted(rails, Kind::Broadcast, 12)) < 9 * out);
}

TEST_CASE("broadcasts end when they are stopped") {
    const Instance instance = rooted(generators::star(32, {Ticks(1), Ticks(2), {}}), Kind::Broadcast, 8);
    const std::atomic<bool> now{true};
    CHECK_FALSE(broadcast_rounds(instance, Stop(std::nullopt, &now)));
}
