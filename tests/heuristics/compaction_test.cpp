#include "heuristics/compaction.hpp"

#include "core/generators/full.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::heuristics;

TEST_CASE("compaction starts moves that wait for nothing at once, also with many chunks") {
    InstanceParts parts;
    parts.topology = generators::fully_connected(60, {Ticks(1), Ticks(2), {}});
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < 60; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {test::collective(CollectiveKind::AllToAll)};
    const Instance instance(parts);
    const HopGraph graph(instance);
    std::vector<Move> moves;
    for (std::size_t h = 0; h < graph.hops(); ++h) {
        const Hop hop = graph.hop(HopId(h));
        const std::size_t to = hop.to.index() - (hop.to > hop.from ? 1 : 0);
        moves.push_back(
            {&graph,
             {HopId(h), ChunkId(hop.from.index() * 59 + to), Ticks(5000 - 7 * static_cast<int>(h % 500))}});
    }
    const auto early = compacted(moves);
    REQUIRE(early.size() == moves.size());
    for (const Move& move : early) CHECK(move.transfer.start == Ticks(0));
}

TEST_CASE("compaction lets the send of a sum wait for what arrived before it, and for nothing later") {
    // 0 and 1 add to 2, which sends on to 3; 1 adds to 2 again only after that send.
    test::Net net(4);
    net.link(0, 2, 0, 1).link(1, 2, 3, 1).link(2, 3, 0, 1);
    const Instance instance = test::on_all(net, {test::custom({0, 1, 2}, {3}, true)});
    const HopGraph graph(instance);
    const auto move = [&](std::size_t hop, std::int64_t start) {
        return Move{&graph, {HopId(hop), ChunkId(0), Ticks(start)}, Op::Reduce};
    };
    const auto both = retimed({move(2, 20), move(0, 4), move(1, 8)});
    CHECK(both.back().transfer.hop == HopId(2));
    CHECK(both.back().transfer.start == Ticks(4));
    const auto one = retimed({move(2, 9), move(0, 4), move(1, 8)});
    for (const Move& m : one) {
        if (m.transfer.hop == HopId(2)) CHECK(m.transfer.start == Ticks(1));
    }
}

TEST_CASE("compaction keeps the order on a link and removes idle time between transfers") {
    const Instance instance = test::on_all(test::line(2, 0, 3), {test::collective(CollectiveKind::Scatter)});
    const HopGraph graph(instance);
    std::vector<Move> moves;
    for (const std::int64_t start : {100, 40, 70}) {
        moves.push_back({&graph, {HopId(0), ChunkId(0), Ticks(start)}});
    }
    const auto early = compacted(moves);
    CHECK(makespan_of(early) == Ticks(9));
    CHECK(early[0].transfer.start == Ticks(0));
    CHECK(early[2].transfer.start == Ticks(6));
}
