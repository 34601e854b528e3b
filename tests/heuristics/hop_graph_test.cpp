#include "heuristics/hop_graph.hpp"

#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::heuristics;

namespace {

/// 0 -> switch -> 1, then back: links (alpha 1, beta 2), (alpha 3, beta 5) each way.
Instance through(const SwitchRule& rule) {
    test::Net net(2);
    const auto hub = net.add_switch(rule);
    net.link(0, hub, 1, 2).link(hub, 1, 3, 5).link(1, hub, 1, 2).link(hub, 0, 3, 5);
    return test::on_all(net, {test::custom({0}, {1})});
}

}  // namespace

TEST_CASE("a switch that stores is a stop of its own") {
    const Instance instance = through({});
    const HopGraph graph(instance);
    CHECK(graph.hops() == 4);
    CHECK(graph.transit(HopId(0), ChunkId(0)) == Ticks(3));
    CHECK_FALSE(graph.branches(NodeId(2)));
    CHECK_FALSE(graph.is_direct());
}

TEST_CASE("a cut-through switch is passed in one hop that pays the slowest beta once") {
    const Instance instance = through({.cut_through = true});
    const HopGraph graph(instance);
    REQUIRE(graph.hops() == 2);
    CHECK(graph.transit(HopId(0), ChunkId(0)) == Ticks(1 + 3 + 5));
    std::vector<LegTime> legs;
    graph.leg_times(HopId(0), ChunkId(0), legs);
    REQUIRE(legs.size() == 2);
    CHECK(legs[0].offset == Ticks(0));
    CHECK(legs[0].busy == Ticks(5));
    CHECK(legs[1].offset == Ticks(1));
    CHECK(legs[1].busy == Ticks(5));
}

TEST_CASE("a switch with a limited buffer is passed in one hop without waiting") {
    const Instance instance = through({.buffer = 0});
    const HopGraph graph(instance);
    REQUIRE(graph.hops() == 2);
    CHECK(graph.transit(HopId(0), ChunkId(0)) == Ticks(1 + 2 + 3 + 5));
    std::vector<LegTime> legs;
    graph.leg_times(HopId(0), ChunkId(0), legs);
    CHECK(legs[1].offset == Ticks(3));
    CHECK(legs[0].busy == Ticks(2));
}

TEST_CASE("turned round, a hop takes as long and runs its links backwards") {
    const Instance instance = through({.cut_through = true});
    const HopGraph graph(instance);
    const HopGraph backwards = graph.reversed();
    CHECK(backwards.hop(HopId(0)).from == graph.hop(HopId(0)).to);
    CHECK(backwards.transit(HopId(0), ChunkId(0)) == graph.transit(HopId(0), ChunkId(0)));
    std::vector<LegTime> legs;
    backwards.leg_times(HopId(0), ChunkId(0), legs);
    REQUIRE(legs.size() == 2);
    CHECK(legs[0].link == LinkId(1));
    CHECK(legs[1].offset == Ticks(3));
}

TEST_CASE("a switch that only reduces branches only when turned round") {
    const Instance instance = through({.reduce = true});
    const HopGraph graph(instance);
    CHECK_FALSE(graph.branches(NodeId(2)));
    CHECK(graph.reversed().branches(NodeId(2)));
}

TEST_CASE("every NPU is reached, however many paths a fabric of cut-through switches has") {
    // Two NPUs on each of 6 leaves, every leaf joined to 6 spines: 6 ways between any two leaves.
    test::Net net(12);
    std::vector<std::size_t> leaves, spines;
    for (int i = 0; i < 6; ++i) leaves.push_back(net.add_switch({.cut_through = true}));
    for (int i = 0; i < 6; ++i) spines.push_back(net.add_switch({.cut_through = true}));
    for (std::size_t n = 0; n < 12; ++n) net.both(n, leaves[n / 2]);
    for (const auto leaf : leaves) {
        for (const auto spine : spines) net.both(leaf, spine);
    }
    const Instance instance = test::on_all(net, {test::custom({0}, {1})});
    const HopGraph graph(instance);
    for (std::size_t n = 0; n < 12; ++n) {
        std::vector<bool> reached(12, false);
        for (const HopEnd& out : graph.out(NodeId(n))) reached[out.node.index()] = true;
        CHECK(std::count(reached.begin(), reached.end(), true) == 11);
    }
}

TEST_CASE("the hops into a node are those out of it on the network turned round") {
    test::Net net(3);
    const auto middle = net.add_switch({.cut_through = true});
    net.link(0, 1, 0, 1).link(2, 1, 0, 1).link(1, 2, 0, 1);
    for (std::size_t n = 0; n < 3; ++n) net.both(n, middle);
    const Instance instance = test::on_all(net, {test::custom({0}, {1})});
    const HopGraph graph(instance);
    const HopGraph turned = graph.reversed();
    std::size_t hops = 0;
    for (std::size_t n = 0; n < graph.nodes(); ++n) {
        const auto in = graph.in(NodeId(n));
        const auto out = turned.out(NodeId(n));
        REQUIRE(in.size() == out.size());
        for (std::size_t k = 0; k < in.size(); ++k, ++hops) {
            CHECK(in[k].hop == out[k].hop);
            CHECK(in[k].node == graph.from(in[k].hop));
            CHECK(graph.to(in[k].hop) == NodeId(n));
            CHECK(out[k].node == in[k].node);
            CHECK(turned.from(out[k].hop) == NodeId(n));
            const auto legs = graph.legs(in[k].hop);
            const auto back = turned.legs(in[k].hop);
            CHECK(std::equal(legs.begin(), legs.end(), back.rbegin(), back.rend()));
        }
    }
    CHECK(hops == graph.hops());
}
