#include "synth/baselines.hpp"

#include "core/generators/mesh_torus.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;

namespace {

Instance two_groups(std::vector<std::size_t> first, std::vector<std::size_t> second) {
    InstanceParts parts;
    parts.name = "two groups";
    parts.topology =
        generators::mesh(std::vector<std::uint64_t>{4, 4}, std::vector<Wire>{{Ticks(0), Ticks(1), {}}});
    parts.groups = {{"a", test::nodes(first)}, {"b", test::nodes(second)}};
    parts.collectives = {test::collective(CollectiveKind::AllGather, "x"),
                         test::collective(CollectiveKind::AllGather, "y")};
    parts.collectives[1].group = GroupId(1);
    return Instance(std::move(parts));
}

}  // namespace

TEST_CASE("rows of a mesh need no relays, and one after the other takes them twice the time") {
    const auto [members_only, one_after_another] =
        synth::baselines(two_groups({0, 1, 2, 3}, {12, 13, 14, 15}), {});
    REQUIRE(members_only.makespan.has_value());
    CHECK(*members_only.makespan == Ticks(3));  // an end of the row has one link within its group
    REQUIRE(one_after_another.makespan.has_value());
    CHECK(*one_after_another.makespan >= Ticks(6));
}

TEST_CASE("members that cannot reach each other without relays are named") {
    const auto [members_only, one_after_another] = synth::baselines(two_groups({0, 5}, {3, 6}), {});
    CHECK_FALSE(members_only.makespan.has_value());
    CHECK(members_only.why_not.find("forwarding 'group'") != std::string::npos);
    CHECK(one_after_another.makespan == Ticks(4));  // two hops each
}

TEST_CASE("a later release delays only what comes after it") {
    InstanceParts parts;
    const Instance given = two_groups({0, 5}, {3, 6});
    parts = {given.name(), given.topology().parts(), given.groups(), given.collectives()};
    parts.collectives[1].release = Ticks(10);
    CHECK(synth::baselines(Instance(parts), {}).one_after_another.makespan == Ticks(12));
}
