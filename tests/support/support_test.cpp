// The tests' own tools: random instances, what is feasible, and shrinking.

#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/random_schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;

TEST_CASE("random instances are valid, and the same for the same seed") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Rng once(seed), again(seed);
        const InstanceParts parts = random_instance(once);
        CHECK_NOTHROW(Instance{parts});
        CHECK(json_of(Instance(parts)) == json_of(Instance(random_instance(again))));
    }
}

TEST_CASE("random strongly connected instances are feasible where all NPUs may forward") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Rng rng(seed);
        CHECK(is_feasible(Instance(random_instance(rng, {.group_forwarding = false}))));
    }
}

TEST_CASE("an instance is infeasible when a receiver is out of reach") {
    const Net one_way = Net(3).link(0, 1).link(1, 2);
    CHECK(is_feasible(on_all(one_way, {custom({0}, {2})})));
    CHECK(!is_feasible(on_all(one_way, {custom({2}, {0})})));
    CHECK(is_feasible(on_all(one_way, {custom({0, 2}, {1, 2})})));
    CHECK(!is_feasible(on_all(one_way, {custom({0, 2}, {1}, true)})));
    Collective among_members = custom({0}, {2});
    among_members.forwarding = Forwarding::Group;
    CHECK(!is_feasible(on_group(one_way, {0, 2}, {among_members})));
}

TEST_CASE("shrinking leaves only what the failure needs") {
    Rng rng(5);
    const auto has_crossbar_and_reduction = [](const Instance& instance) {
        const auto& switches = instance.topology().parts().switches;
        return std::ranges::any_of(switches, &SwitchRule::cut_through) &&
               std::ranges::any_of(instance.collectives(),
                                   [](const Collective& c) { return c.kind == CollectiveKind::AllReduce; });
    };
    InstanceParts parts = random_instance(rng);
    while (!has_crossbar_and_reduction(Instance(parts))) parts = random_instance(rng);
    const InstanceParts small = shrunk(parts, has_crossbar_and_reduction);
    CHECK(small.topology.npus == 1);
    CHECK(small.topology.switches ==
          std::vector<SwitchRule>{{.copy = false, .reduce = false, .cut_through = true, .buffer = {}}});
    CHECK(small.topology.links.empty());
    CHECK(small.groups.size() == 1);
    CHECK(small.collectives.size() == 1);
    CHECK(small.collectives[0].chunks == 1);
    CHECK(small.collectives[0].release == Ticks(0));
}

TEST_CASE("shrinking a schedule leaves only the sends that the failure needs, as early as they may be") {
    const Schedule large = schedule(0, {copy(0, 0, 5), copy(1, 2, 7), reduce(0, 1, 9), copy(0, 0, 11)});
    const auto uses_link_2_late = [](const Schedule& candidate) {
        return std::ranges::any_of(candidate.sends,
                                   [](const Send& s) { return s.link == LinkId(2) && s.start >= Ticks(3); });
    };
    CHECK(shrunk(large, uses_link_2_late).sends == std::vector<Send>{copy(1, 2, 3)});
}
