#include "heuristics/link_calendar.hpp"

#include "core/rng.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>

using namespace tutti;
using namespace tutti::heuristics;

TEST_CASE("the calendar finds the first gap, as a tick-by-tick search does") {
    test::Net net(2);
    net.link(0, 1, 0, 1).link(0, 1, 0, 2).link(0, 1, 0, 5);
    const Instance instance = test::on_all(net, {test::custom({0}, {1})});
    const HopGraph graph(instance);
    const std::array<std::int64_t, 3> busy{1, 2, 5};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        LinkCalendar calendar(3);
        std::array<std::set<std::int64_t>, 3> taken;
        for (int i = 0; i < 200; ++i) {
            const std::size_t link = rng.below(3);
            const auto ready = static_cast<std::int64_t>(rng.below(300));
            std::int64_t expected = ready;
            const auto free = [&](std::int64_t at) {
                for (std::int64_t t = at; t < at + busy[link]; ++t) {
                    if (taken[link].contains(t)) return false;
                }
                return true;
            };
            while (!free(expected)) ++expected;
            const Ticks start = calendar.earliest(graph, HopId(link), ChunkId(0), Ticks(ready));
            REQUIRE(start == Ticks(expected));
            calendar.book(graph, HopId(link), ChunkId(0), start);
            for (std::int64_t t = expected; t < expected + busy[link]; ++t) taken[link].insert(t);
        }
    }
}

TEST_CASE("two messages of one chunk are never exchanged in a switch that they pass at one tick") {
    const Instance instance = test::on_all(test::star(4, {.cut_through = true}, 1, 2),
                                           {test::collective(CollectiveKind::AllGather)});
    const HopGraph graph(instance);
    const auto hop = [&](std::size_t from, std::size_t to) {
        for (const HopEnd& out : graph.out(NodeId(from))) {
            if (out.node == NodeId(to)) return out.hop;
        }
        FAIL("no such hop");
        return HopId{};
    };
    LinkCalendar calendar(instance.topology().links().size());
    for (std::int64_t start = 0; start < 200; start += 2) {
        calendar.book(graph, hop(0, 1), ChunkId(0), Ticks(start));
        // From 2 to 3: behind it on both sides, so the switch forwards each as it should.
        CHECK(calendar.earliest(graph, hop(2, 3), ChunkId(0), Ticks(start)) == Ticks(start));
        CHECK(calendar.earliest(graph, hop(2, 0), ChunkId(0), Ticks(start)) == Ticks(start + 1));
        CHECK(calendar.earliest(graph, hop(2, 3), ChunkId(1), Ticks(start)) == Ticks(start));
    }
}

TEST_CASE("two messages of one chunk never pass a switch at one tick if it, or the chunk, is a sum") {
    const auto second_starts = [](bool adds, CollectiveKind kind) {
        const SwitchRule rule{.copy = true, .reduce = adds, .cut_through = true};
        const Instance instance = test::on_all(test::star(4, rule, 1, 2), {test::collective(kind)});
        const Topology& topology = instance.topology();
        const auto path = [&](std::size_t from, std::size_t to) {
            return std::array{topology.out_links(NodeId(from)).front(),
                              topology.in_links(NodeId(to)).front()};
        };
        std::vector<LegTime> first, second;
        path_times(instance, path(0, 1), ChunkId(0), first);
        path_times(instance, path(2, 3), ChunkId(0), second);
        LinkCalendar calendar(topology.links().size());
        calendar.book(first, ChunkId(0), Ticks(0));
        return calendar.earliest(second, ChunkId(0), Ticks(0));
    };
    CHECK(second_starts(false, CollectiveKind::AllGather) == Ticks(0));
    CHECK(second_starts(true, CollectiveKind::AllGather) == Ticks(1));
    CHECK(second_starts(false, CollectiveKind::AllReduce) == Ticks(1));
}
