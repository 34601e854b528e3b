// How good the greedy schedules are. That they are valid is for tests/properties; here every makespan is
// compared with a bound or a proven optimum.

#include "bounds/bounds.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/oracle_data.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace tutti;

namespace {

synth::Request greedily() {
    synth::Request request;
    request.method = "greedy";
    return request;
}

struct Named {
    std::string name;
    TopologyParts parts;
};

std::vector<Named> regular_networks(const Wire& wire) {
    const std::vector<Wire> wires{wire};
    std::vector<Named> nets;
    for (const std::uint64_t n : {2U, 3U, 5U, 8U, 17U, 64U})
        nets.push_back({fmt::format("ring {}", n), generators::ring(n, wire)});
    for (const auto& dims : std::vector<std::vector<std::uint64_t>>{
             {2, 3}, {3, 3}, {4, 4}, {5, 7}, {8, 8}, {2, 32}, {4, 4, 4}}) {
        const std::string shape = fmt::format("{}x{}{}", dims[0], dims[1], dims.size() > 2 ? "x…" : "");
        nets.push_back({"mesh " + shape, generators::mesh(dims, wires)});
        nets.push_back({"torus " + shape, generators::torus(dims, wires)});
    }
    for (const std::uint64_t d : {1U, 2U, 3U, 4U, 5U, 6U})
        nets.push_back({fmt::format("hypercube {}", d), generators::hypercube(d, wires)});
    return nets;
}

Instance whole(const Named& net, CollectiveKind kind, std::uint64_t chunks) {
    InstanceParts parts;
    parts.name = net.name;
    parts.topology = net.parts;
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < net.parts.npus; ++n) parts.groups[0].members.emplace_back(n);
    Collective collective = test::collective(kind);
    collective.chunks = chunks;
    parts.collectives = {collective};
    return Instance(std::move(parts));
}

void check_within(double factor, const Named& net, CollectiveKind kind, std::uint64_t chunks, Ticks bound,
                  Ticks makespan) {
    INFO(net.name, " ", std::string(name_of(kind)), " with ", chunks, " chunks: makespan ", makespan.count(),
         ", bound ", bound.count());
    CHECK(static_cast<double>(makespan.count()) <= factor * static_cast<double>(bound.count()));
}

}  // namespace

TEST_CASE("on rings, meshes, tori and hypercubes greedy is within 1.5 of the simple bounds") {
    using enum CollectiveKind;
    for (const auto& [alpha, beta] : {std::pair{0, 1}, {5, 1}, {2, 7}}) {
        CAPTURE(alpha);
        CAPTURE(beta);
        for (const Named& net : regular_networks({Ticks(alpha), Ticks(beta), {}})) {
            for (const CollectiveKind kind : {Broadcast, Scatter, Gather, Reduce, AllGather, ReduceScatter}) {
                for (const std::uint64_t chunks : {1U, 3U}) {
                    const auto result = synth::synthesize(whole(net, kind, chunks), greedily());
                    check_within(1.5, net, kind, chunks, result.bound.value, result.schedule.makespan);
                }
            }
            // What is composed of two halves is measured against the bounds of both.
            const Ticks halves = bounds::simple_bounds(whole(net, ReduceScatter, 1)).front().value +
                                 bounds::simple_bounds(whole(net, AllGather, 1)).front().value;
            const auto result = synth::synthesize(whole(net, AllReduce, 1), greedily());
            check_within(1.5, net, AllReduce, 1, halves, result.schedule.makespan);
        }
    }
}

TEST_CASE("on instances with a proven optimum greedy is never below it and at most half above") {
    for (const test::ProvenOptimum& proven : test::proven_optima()) {
        const Instance& instance = proven.instance;
        CAPTURE(instance.name());
        const auto result = synth::synthesize(instance, greedily());
        CHECK(result.schedule.makespan >= proven.optimum);
        CHECK(result.schedule.makespan.count() * 2 <= proven.optimum.count() * 3);
        CHECK(result.bound.value <= proven.optimum);
    }
}

TEST_CASE("members that do not touch are joined by relays outside the group") {
    const std::vector<std::uint64_t> dims{3, 3};
    const std::vector<Wire> wires{{Ticks(0), Ticks(1), {}}};
    InstanceParts parts;
    parts.topology = generators::mesh(dims, wires);
    parts.groups = {{"corners", test::nodes({0, 2, 6, 8})}};
    parts.collectives = {test::collective(CollectiveKind::AllGather)};
    const auto result = synth::synthesize(Instance(parts), greedily());
    CHECK(result.schedule.makespan == Ticks(4));  // the way from corner to corner
    parts.collectives[0].forwarding = Forwarding::Group;
    CHECK_THROWS_AS((void)synth::synthesize(Instance(parts), greedily()), InfeasibleError);
}

TEST_CASE("two collectives on disjoint halves of a ring run at the same time") {
    InstanceParts parts;
    parts.topology = generators::ring(8, {Ticks(0), Ticks(1), {}});
    parts.groups = {{"low", test::nodes({0, 1, 2, 3})}, {"high", test::nodes({4, 5, 6, 7})}};
    parts.collectives = {test::collective(CollectiveKind::AllGather, "a"),
                         test::collective(CollectiveKind::AllGather, "b")};
    const Ticks alone = synth::synthesize(Instance([&] {
                                              InstanceParts one = parts;
                                              one.collectives.pop_back();
                                              return one;
                                          }()),
                                          greedily())
                            .schedule.makespan;
    parts.collectives[1].group = GroupId(1);
    CHECK(synth::synthesize(Instance(parts), greedily()).schedule.makespan == alone);
}

TEST_CASE("the same seed and number of threads give the same schedule") {
    const Named net{"mesh", generators::mesh(std::vector<std::uint64_t>{4, 4},
                                             std::vector<Wire>{{Ticks(1), Ticks(3), {}}})};
    const Instance instance = whole(net, CollectiveKind::AllReduce, 2);
    for (const unsigned threads : {1U, 3U}) {
        synth::Request request = greedily();
        request.seed = 7;
        request.threads = threads;
        CHECK(synth::synthesize(instance, request).schedule.sends ==
              synth::synthesize(instance, request).schedule.sends);
    }
}

TEST_CASE("two sums of one chunk never wait at a switch that copies but does not reduce") {
    // Whether the second would queue up or replace the first is a question of how one reads such a switch.
    const Instance instance =
        test::on_all(test::star(6, {.copy = true}, 1, 2), {test::collective(CollectiveKind::AllReduce)});
    const Schedule schedule = synth::synthesize(instance, greedily()).schedule;
    std::map<ChunkId, std::vector<Ticks>> arrivals, departures;
    for (const Send& send : schedule.sends) {
        const Link& link = instance.topology().link(send.link);
        if (link.dst == NodeId(6)) arrivals[send.chunk].push_back(send.start + Ticks(3));
        if (link.src == NodeId(6) && send.op == Op::Reduce) departures[send.chunk].push_back(send.start);
    }
    REQUIRE(departures.size() == instance.chunks());
    for (auto& [chunk, ticks] : departures) {
        std::ranges::sort(ticks);
        std::ranges::sort(arrivals[chunk]);
        // What is summed up passes at once, one at a time; only then comes the sum, to be copied.
        for (std::size_t i = 0; i < ticks.size(); ++i) CHECK(ticks[i] == arrivals[chunk][i]);
        CHECK(std::ranges::adjacent_find(ticks) == ticks.end());
    }
}
