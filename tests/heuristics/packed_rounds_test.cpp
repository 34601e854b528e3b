#include "heuristics/levels/packed_rounds.hpp"

#include "core/generators/dragonfly.hpp"
#include "core/generators/star.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <atomic>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

Instance all_to_all(TopologyParts topology, CollectiveKind kind = CollectiveKind::AllToAll) {
    InstanceParts parts;
    parts.name = "all-to-all";
    parts.topology = std::move(topology);
    parts.groups = {{"g", {}}};
    for (std::size_t n = 0; n < parts.topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {collective(kind)};
    return Instance(std::move(parts));
}

}  // namespace

TEST_CASE("packed rounds are valid on random clusters") {
    std::uint64_t made = 0;
    for_seeds(cases(30), [&](Rng& rng, std::uint64_t) {
        InstanceParts parts = random_cluster(rng);
        for (Collective& one : parts.collectives) one.kind = CollectiveKind::AllToAll;
        const Instance instance(parts);
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        const auto schedule = packed_rounds(instance, {});
        if (!schedule) return;
        ++made;
        CHECK(broken(instance, *schedule).empty());
    });
    CHECK(made > cases(30) / 4);
}

TEST_CASE("packed rounds keep the full links of a dragonfly busy") {
    // 5 groups of 4 routers with 2 NPUs each, one global link between any two groups.
    const Wire near{Ticks(1), Ticks(100), {}}, far{Ticks(5), Ticks(100), {}};
    const Instance instance =
        all_to_all(generators::dragonfly({5, 4, 2, 1, near, near, far, {.cut_through = true}}));
    const auto schedule = packed_rounds(instance, {});
    REQUIRE(schedule);
    CHECK(broken(instance, *schedule).empty());
    // A global link carries the 64 chunks from one group to another. List scheduling needs 70 rounds.
    CHECK(true_makespan(instance, *schedule) >= 64 * 100);
    CHECK(true_makespan(instance, *schedule) < 66 * 100);
}

TEST_CASE("packed rounds are for chunks with one receiver, and end when they are stopped") {
    const Wire wire{Ticks(1), Ticks(2), {}};
    CHECK_FALSE(
        why_no_packed_rounds(all_to_all(generators::star(8, wire), CollectiveKind::AllGather)).empty());
    const std::atomic<bool> now{true};
    CHECK_FALSE(packed_rounds(all_to_all(generators::star(8, wire)), Stop(std::nullopt, &now)));
}
