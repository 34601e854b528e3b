#include "heuristics/paths/negotiated_paths.hpp"

#include "core/generators/mesh_torus.hpp"
#include "heuristics/paths/priced_paths.hpp"
#include "tests/heuristics/spread_problems.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace tutti;
using namespace tutti::heuristics;
using test::collective;

namespace {

/// An all-to-all among random NPUs of a torus.
Instance scattered(std::uint64_t side, std::size_t members, const Wire& wire, std::uint64_t seed) {
    InstanceParts parts;
    parts.name = "scattered";
    parts.topology = generators::torus(std::vector{side, side, side}, std::vector(3, wire));
    std::vector<NodeId> npus;
    for (std::size_t n = 0; n < parts.topology.npus; ++n) npus.emplace_back(n);
    Rng rng(seed);
    rng.shuffle(npus);
    npus.resize(members);
    parts.groups = {{"g", std::move(npus)}};
    parts.collectives = {collective(CollectiveKind::AllToAll)};
    return Instance(std::move(parts));
}

struct Both {
    Ticks priced, negotiated;
};

/// What paths planned first take, and what negotiation makes of the same problem.
Both both(const Instance& instance) {
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph);
    Rng rng(1), same(1);
    const auto priced = route_paths(problem, rng, Stop());
    const auto negotiated = negotiate_paths(problem, same, Stop());
    REQUIRE(priced);
    REQUIRE(negotiated);
    CHECK(test::complaint(graph, *negotiated) == "");
    return {priced->makespan, negotiated->makespan};
}

}  // namespace

TEST_CASE("negotiated paths shorten all-to-alls of scattered groups") {
    for (const std::uint64_t seed : {1U, 2U}) {
        const auto [priced, negotiated] = both(scattered(5, 25, {Ticks(0), Ticks(1), {}}, seed));
        CHECK(negotiated < priced);
        // 24 chunks over six links of each NPU, the last of which has to go somewhere.
        CHECK(negotiated >= Ticks(5));
    }
}

TEST_CASE("negotiated paths take times of any size, in slots that are rounded where they have to be") {
    for (const auto& [alpha, beta] : {std::pair{3, 7}, {500'000, 5'242'880}, {5'000'011, 1'000'003}}) {
        CAPTURE(alpha);
        const auto [priced, negotiated] = both(scattered(4, 16, {Ticks(alpha), Ticks(beta), {}}, 1));
        CHECK(negotiated <= priced);
    }
}

TEST_CASE("negotiated paths and their times are found together where quickest paths meet") {
    // 0 and 1 both send to 5 and 6, which they reach over 2, 3 and 4, one chunk a tick each.
    test::Net net(7);
    for (const std::uint32_t relay : {2U, 3U, 4U})
        net.link(0, relay).link(1, relay).link(relay, 5).link(relay, 6);
    Collective kind = collective(CollectiveKind::Permute);
    kind.pairs = {{Rank(0), Rank(2)}, {Rank(1), Rank(3)}};
    kind.chunks = 6;
    const Instance instance = test::on_group(net, {0, 1, 5, 6}, {kind});
    CHECK(both(instance).negotiated == Ticks(3));
}

TEST_CASE("negotiated paths keep to the group where only members may forward") {
    Collective kind = collective(CollectiveKind::Permute);
    kind.pairs = {{Rank(0), Rank(1)}};
    kind.chunks = 6;
    kind.forwarding = Forwarding::Group;
    const Instance instance = test::on_group(test::Net(3).both(0, 1).both(0, 2).both(2, 1), {0, 1}, {kind});
    CHECK(both(instance).negotiated == Ticks(6));
}

TEST_CASE(
    "negotiated paths decline several receivers, links that are booked, and switches that hold nothing") {
    Collective kind = collective(CollectiveKind::Broadcast);
    kind.root = Rank(0);
    const Instance several = test::on_all(test::line(3), {kind});
    const HopGraph line(several);
    CHECK(why_no_negotiation(test::spread_problem(line)).find("several") != std::string::npos);
    const Instance star =
        test::on_all(test::star(3, {.cut_through = true}), {collective(CollectiveKind::AllToAll)});
    const HopGraph crossbar(star);
    CHECK(why_no_negotiation(test::spread_problem(crossbar)).find("hold nothing") != std::string::npos);
    const Instance plain = test::on_all(test::line(3), {collective(CollectiveKind::AllToAll)});
    const HopGraph graph(plain);
    auto booked = test::spread_problem(graph);
    CHECK(why_no_negotiation(booked).empty());
    booked.calendar.book(graph, HopId(0), ChunkId(0), Ticks(0));
    Rng rng(1);
    CHECK_FALSE(negotiate_paths(booked, rng, Stop()));
}

TEST_CASE("negotiated paths are valid on random networks of every kind, and never longer than priced ones") {
    std::size_t solved = 0, shorter = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        InstanceParts parts = test::random_instance(rng);
        std::erase_if(parts.collectives, [](const Collective& c) {
            using enum CollectiveKind;
            return c.kind != Scatter && c.kind != Gather && c.kind != AllToAll && c.kind != AllToAllV &&
                   c.kind != Permute && c.kind != AllToNext;
        });
        if (parts.collectives.empty()) continue;
        const Instance instance(std::move(parts));
        if (!test::is_feasible(instance)) continue;
        const HopGraph graph(instance);
        if (!why_no_negotiation(test::spread_problem(graph)).empty()) continue;
        const auto [priced, negotiated] = both(instance);
        CHECK(negotiated <= priced);
        ++solved;
        if (negotiated < priced) ++shorter;
    }
    CHECK(solved > 40);
    CHECK(shorter > 0);
}
