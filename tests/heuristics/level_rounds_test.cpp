#include "heuristics/levels/level_rounds.hpp"

#include "core/generators/fat_tree.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/star.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

using Kind = CollectiveKind;

/// All NPUs, unless there are groups already.
Instance instance_of(TopologyParts topology, std::vector<Collective> collectives,
                     std::vector<Group> groups = {}) {
    InstanceParts parts;
    parts.name = "test";
    parts.topology = std::move(topology);
    parts.groups = std::move(groups);
    if (parts.groups.empty()) {
        parts.groups.push_back({"all", {}});
        for (std::size_t n = 0; n < parts.topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    }
    parts.collectives = std::move(collectives);
    return Instance(std::move(parts));
}

TopologyParts tree(std::uint64_t k, std::uint64_t n, const SwitchRule& rule = {}) {
    const std::array wires{Wire{Ticks(1), Ticks(2), {}}};
    return generators::fat_tree(k, n, wires, rule);
}

Schedule made(const Instance& instance) {
    auto schedule = level_rounds(instance, {});
    REQUIRE_MESSAGE(schedule, why_no_level_rounds(instance));
    CHECK(broken(instance, *schedule).empty());
    return *schedule;
}

}  // namespace

TEST_CASE("an all-reduce on a fat tree fills the ports, and most of it stays on the leaves") {
    const Schedule schedule = made(instance_of(tree(2, 3), {collective(Kind::AllReduce)}));
    // Each way: 4 chunks to the neighbour on the leaf, then 2 and 1 across two and three tiers.
    CHECK(schedule.sends.size() == 2 * 8 * (4 * 2 + 2 * 4 + 1 * 6));
    // The ports carry 2 * 7 chunks of 2 ticks. Each way, messages of two, four and six links end a phase.
    const std::int64_t last_message = (2 + 4 + 6) * (1 + 2) - 3 * 2;
    CHECK(schedule.makespan == Ticks(2 * (7 * 2 + last_message)));
}

TEST_CASE("rounds by levels are valid with switches of every rule and every kind that they know") {
    for (const SwitchRule& rule : {SwitchRule{}, SwitchRule{.copy = true}, SwitchRule{.cut_through = true},
                                   SwitchRule{.buffer = 1}, SwitchRule{.copy = true, .reduce = true},
                                   SwitchRule{.copy = true, .reduce = true, .cut_through = true}}) {
        for (const Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter}) {
            for (const Busy busy : {Busy::Beta, Busy::AlphaPlusBeta}) {
                TopologyParts topology = tree(3, 2, rule);
                topology.busy = busy;
                Collective wanted = collective(kind);
                wanted.chunks = 2;
                wanted.release = Ticks(5);
                (void)made(instance_of(std::move(topology), {wanted}));
            }
        }
    }
}

TEST_CASE("groups of any size and several collectives run at once") {
    std::vector<Group> groups{{"a", nodes({0, 1, 2, 4, 7})}, {"b", nodes({3, 5, 6, 8, 9, 10, 11})}};
    std::vector<Collective> wanted{collective(Kind::AllReduce, "a"), collective(Kind::AllGather, "b")};
    wanted[1].group = GroupId(1);
    const Instance both = instance_of(generators::star(12, {Ticks(1), Ticks(3), {}}, {}), wanted, groups);
    const Schedule schedule = made(both);
    // On one switch they share no link: the larger one is as long as alone.
    wanted.pop_back();
    const Schedule alone =
        made(instance_of(generators::star(12, {Ticks(1), Ticks(3), {}}, {}), wanted, groups));
    CHECK(schedule.makespan == alone.makespan);
}

TEST_CASE("groups of one shape share their rounds, so that they do not wait for each other") {
    // NPUs i, i + 2, i + 4 and i + 6: both groups cross the whole tree.
    const std::vector<Group> groups{{"a", nodes({0, 2, 4, 6})}, {"b", nodes({1, 3, 5, 7})}};
    std::vector<Collective> wanted{collective(Kind::AllReduce, "a"), collective(Kind::AllReduce, "b")};
    wanted[1].group = GroupId(1);
    const Schedule both = made(instance_of(tree(2, 3), wanted, groups));
    wanted.pop_back();
    CHECK(both.makespan == made(instance_of(tree(2, 3), wanted, groups)).makespan);
}

TEST_CASE("a failed uplink costs detours, not the schedule") {
    TopologyParts topology = tree(2, 3);
    // A link of the leaf of NPUs 0 and 1.
    std::erase_if(topology.links,
                  [](const Link& link) { return link.src == NodeId(8) && link.dst == NodeId(12); });
    REQUIRE(topology.links.size() == 6 * 8 - 1);
    (void)made(instance_of(std::move(topology), {collective(Kind::AllReduce)}));
}

TEST_CASE("rounds by levels say what they do not know") {
    CHECK(why_no_level_rounds(instance_of(tree(2, 2), {collective(Kind::AllToAll)})) != "");
    CHECK(why_no_level_rounds(instance_of(line(4).parts(), {collective(Kind::AllReduce)})) != "");
    CHECK_FALSE(level_rounds(instance_of(tree(2, 2), {collective(Kind::Broadcast)}), {}));
}

TEST_CASE("rounds by levels are valid on random clusters") {
    std::uint64_t count = 0;
    for_seeds(cases(250), [&](Rng& rng, std::uint64_t) {
        InstanceParts parts = random_cluster(rng);
        const Kind kinds[] = {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter};
        for (Collective& wanted : parts.collectives) {
            if (wanted.kind == Kind::Broadcast || wanted.kind == Kind::Custom) continue;
            const Collective old = wanted;
            wanted = collective(kinds[rng.below(3)], old.id);
            wanted.group = old.group;
            wanted.release = old.release;
            wanted.chunk_bytes = old.chunk_bytes;
            wanted.chunks = old.chunks;
        }
        const Instance instance(std::move(parts));
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        const auto schedule = level_rounds(instance, {});
        if (!schedule) return;
        ++count;
        CHECK(broken(instance, *schedule).empty());
    });
    CHECK(count > cases(250) / 5);
}
