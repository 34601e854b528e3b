#include "compile/messages.hpp"
#include "compile/condition.hpp"
#include "compile/part.hpp"
#include "compile/places.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tutti;
using namespace tutti::compile;
using test::copy;
using test::reduce;

std::string refusal(const Instance& instance, const Schedule& schedule) {
    try {
        (void)part_of(instance, schedule, CollectiveId(0));
    } catch (const InputError& error) {
        return error.message();
    }
    return "";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("sends through a switch that stores become one message") {
    // 0 -> hub -> 1, alpha 1, beta 2: three ticks for each link.
    test::Net net = test::star(2, {}, 1, 2);
    const Instance instance = test::on_all(net, {test::custom({0}, {1})});
    const Messages messages =
        messages_of(instance, test::schedule(10, {copy(0, 0, 2), copy(0, 3, 7)}), CollectiveId(0));
    REQUIRE(messages.all.size() == 1);
    const Message& m = messages.all[0];
    CHECK(m.from == NodeId(0));
    CHECK(m.to == NodeId(1));
    CHECK(m.start == Ticks(2));
    CHECK(m.arrival == Ticks(10));
    CHECK(messages.paths[m.path].links == std::vector{LinkId(0), LinkId(3)});
}

TEST_CASE("a chunk that passes cut-through switches pays the slowest beta once") {
    test::Net net(2);
    const auto a = net.add_switch({.cut_through = true});
    const auto b = net.add_switch({.cut_through = true});
    net.link(0, a, 0, 2).link(a, b, 3, 5).link(b, 1, 1, 1);
    const Instance instance = test::on_all(net, {test::custom({0}, {1})});
    // The first link has no latency, so the second leg starts at the same tick.
    const Messages messages = messages_of(
        instance, test::schedule(9, {copy(0, 2, 3), copy(0, 1, 0), copy(0, 0, 0)}), CollectiveId(0));
    REQUIRE(messages.all.size() == 1);
    CHECK(messages.all[0].arrival == Ticks(9));
    CHECK(messages.paths[0].links.size() == 3);
}

TEST_CASE("copies of a chunk leave a switch in the order in which they came") {
    test::Net net = test::star(4, {});
    const Instance instance = test::on_all(net, {test::custom({0, 1}, {2, 3})});
    // NPU 0's copy comes first (link 0) and leaves first, to NPU 3 (link 7).
    const Messages messages =
        messages_of(instance, test::schedule(4, {copy(0, 0, 0), copy(0, 2, 1), copy(0, 7, 2), copy(0, 5, 3)}),
                    CollectiveId(0));
    REQUIRE(messages.all.size() == 2);
    CHECK(messages.all[0].from == NodeId(0));
    CHECK(messages.all[0].to == NodeId(3));
    CHECK(messages.all[1].from == NodeId(1));
    CHECK(messages.all[1].to == NodeId(2));
}

TEST_CASE("a switch that copies or reduces is refused by name") {
    SUBCASE("multicast") {
        const Instance instance = test::on_all(test::star(3, {.copy = true}), {test::custom({0}, {1, 2})});
        const std::string text =
            refusal(instance, test::schedule(2, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 1)}));
        CHECK(says(text, "switch 3 sends chunk 0 more than once"));
    }
    SUBCASE("cut-through multicast") {
        const Instance instance =
            test::on_all(test::star(3, {.copy = true, .cut_through = true}, 1), {test::custom({0}, {1, 2})});
        const std::string text =
            refusal(instance, test::schedule(3, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 1)}));
        CHECK(says(text, "switch 3 sends chunk 0 more than once"));
    }
    SUBCASE("in-network reduction") {
        const Instance instance =
            test::on_all(test::star(3, {.reduce = true}), {test::custom({0, 1, 2}, {2}, true)});
        const std::string text =
            refusal(instance, test::schedule(2, {reduce(0, 0, 0), reduce(0, 2, 0), reduce(0, 5, 1)}));
        CHECK(says(text, "switch 3 adds contributions of chunk 0"));
    }
    SUBCASE("a reducing switch that only forwards is welcome") {
        const Instance instance =
            test::on_all(test::star(2, {.reduce = true}), {test::custom({0, 1}, {1}, true)});
        CHECK(refusal(instance, test::schedule(2, {reduce(0, 0, 0), reduce(0, 3, 1)})).empty());
    }
}

TEST_CASE("messages that contribute to no result are left out") {
    const Instance instance = test::on_all(test::line(4), {test::custom({0}, {1})});
    // To NPU 1, on to NPU 2 for nothing, back to NPU 0 for nothing, and again to NPU 1.
    const Part part =
        part_of(instance, test::schedule(3, {copy(0, 0, 0), copy(0, 2, 1), copy(0, 1, 1), copy(0, 0, 2)}),
                CollectiveId(0));
    REQUIRE(part.messages.size() == 1);
    CHECK(part.messages[0].start == Ticks(0));
}

TEST_CASE("a reduction into nothing is a copy, and an overwritten sum is not needed") {
    // NPU 0's contribution goes over NPU 1, which has none, to NPU 2.
    const Instance instance = test::on_all(test::line(3), {test::custom({0, 2}, {2}, true)});
    const Part part = part_of(instance, test::schedule(4, {reduce(0, 0, 0), copy(0, 0, 1), reduce(0, 2, 2)}),
                              CollectiveId(0));
    REQUIRE(part.messages.size() == 2);
    CHECK(part.messages[0].start == Ticks(1));
    CHECK(part.messages[0].op == Op::Copy);
    CHECK(part.messages[1].op == Op::Reduce);
}

TEST_CASE("what an NPU sends to itself through a switch is no message") {
    // NPU 0's contribution to the hub and back, then to NPU 1.
    const Instance instance = test::on_all(test::star(2, {}), {test::custom({0, 1}, {1}, true)});
    const Part part =
        part_of(instance, test::schedule(8, {copy(0, 0, 0), copy(0, 1, 2), copy(0, 0, 4), reduce(0, 3, 6)}),
                CollectiveId(0));
    REQUIRE(part.messages.size() == 1);
    CHECK(part.messages[0].from == 0);
    CHECK(part.messages[0].to == 1);
    // NPU 1's contribution comes to NPU 0 while that one's own is on its way, is overwritten, and comes
    // again.
    test::Net net = test::star(2, {});
    net.link(1, 0, 1, 1);
    const Instance other = test::on_all(net, {test::custom({0, 1}, {0}, true)});
    const std::string text =
        refusal(other, test::schedule(10, {copy(0, 0, 0), copy(0, 1, 5), reduce(0, 4, 1), reduce(0, 4, 8)}));
    CHECK(says(text, "NPU 0 sends chunk 0 to itself"));
}

TEST_CASE("NPUs outside the group that pass chunks on are ranks behind those of the group") {
    const Instance instance =
        test::on_group(test::line(4), {3, 1}, {test::collective(CollectiveKind::AllGather)});
    // NPU 0 gets a chunk too, for nothing.
    const Part part = part_of(
        instance,
        test::schedule(2, {copy(1, 2, 0), copy(1, 1, 0), copy(1, 4, 1), copy(0, 5, 0), copy(0, 3, 1)}),
        CollectiveId(0));
    CHECK(part.members == 2);
    CHECK(part.ranks == 3);
    CHECK(part.npus == test::nodes({3, 1, 2}));
    REQUIRE(part.messages.size() == 4);
    CHECK(part.messages[0].from == 1);
    CHECK(part.messages[0].to == 2);
    CHECK(part.messages[3].from == 2);
    CHECK(part.messages[3].to == 0);
}

TEST_CASE("ranks are positions in the group, and chunks are counted from the collective's first") {
    auto second = test::collective(CollectiveKind::AllGather, "second");
    const Instance instance =
        test::on_group(test::line(2), {1, 0}, {test::collective(CollectiveKind::AllGather), second});
    // Chunk 2 is the share of rank 0 of the second collective: NPU 1.
    const Part part =
        part_of(instance, test::schedule(2, {copy(0, 1, 0), copy(1, 0, 0), copy(2, 1, 1), copy(3, 0, 1)}),
                CollectiveId(1));
    REQUIRE(part.messages.size() == 2);
    CHECK(part.messages[0].chunk == 1);
    CHECK(part.messages[0].from == 1);
    CHECK(part.messages[0].to == 0);
    CHECK(part.messages[1].chunk == 0);
}

TEST_CASE("chunks of different sizes have no place in one plan") {
    auto odd = test::custom({0}, {1});
    odd.demands.push_back(odd.demands.front());
    odd.demands.back().bytes = Bytes{7};
    const Instance instance = test::on_all(test::line(2), {odd});
    CHECK(says(refusal(instance, test::schedule(2, {copy(0, 0, 0), copy(1, 0, 1)})), "one size"));
}

TEST_CASE("events of one tick: arrivals come before starts") {
    const std::vector<RankMessage> messages{{.start = Ticks(1), .arrival = Ticks(2)},
                                            {.start = Ticks(0), .arrival = Ticks(1)}};
    CHECK(events_of(messages) == std::vector<Event>{{1, false}, {1, true}, {0, false}, {0, true}});
}

TEST_CASE("the error about an unknown collective lists the collectives") {
    const Instance instance =
        test::on_all(test::line(2), {test::collective(CollectiveKind::AllGather, "ag"),
                                     test::collective(CollectiveKind::AllReduce, "ar")});
    CHECK(collectives_named(instance, std::nullopt).size() == 2);
    CHECK(collectives_named(instance, "ar") == std::vector{CollectiveId(1)});
    CHECK_THROWS_WITH_AS((void)collectives_named(instance, "xx"), doctest::Contains("(ag, ar), found 'xx'"),
                         InputError);
}
