// How good the schedules made in the quotient are; that they are valid is checked by both verifiers.

#include "heuristics/symmetry/quotient.hpp"

#include "bounds/bounds.hpp"
#include "core/generators/full.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/symmetric_instance.hpp"
#include "verify/symmetric_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace tutti;
using namespace tutti::test;

namespace {

constexpr Wire kUnit{Ticks(0), Ticks(1), {}};
const std::vector<Wire> kUnits{kUnit};
using Dims = std::vector<std::uint64_t>;

/// By both verifiers.
symmetry::SymmetricSchedule checked(const Instance& instance,
                                    const std::optional<symmetry::SymmetricSchedule>& schedule) {
    REQUIRE(schedule);
    const Verdict symbolic = verify::verify(instance, *schedule);
    INFO((symbolic.valid() ? "" : symbolic.violations[0].message));
    CHECK(symbolic.valid());
    const Verdict whole = verify::verify(instance, expanded(instance, *schedule));
    CHECK(whole.valid());
    CHECK(whole.makespan == schedule->makespan);
    return *schedule;
}

symmetry::SymmetricSchedule synthesised(const Instance& instance, Ticks target,
                                        std::uint64_t effort = SearchOptions{}.symmetry_effort) {
    Rng rng(1);
    return checked(instance, heuristics::quotient_synthesis(instance, target, rng, Stop(), effort));
}

symmetry::SymmetricSchedule trees_of(const Instance& instance, Ticks target, std::uint64_t effort) {
    Rng rng(1);
    return checked(instance, heuristics::symmetric_trees(instance, target, rng, Stop(), effort));
}

void check_optimal(const Instance& instance, std::uint64_t effort = SearchOptions{}.symmetry_effort) {
    const Ticks bound = bounds::simple_bounds(instance)[0].value;
    INFO(instance.topology().npus(), " NPUs, ", instance.chunks(), " chunks");
    CHECK(synthesised(instance, bound, effort).makespan == bound);
}

}  // namespace

TEST_CASE("all-gathers and reduce-scatters on regular networks meet the bound") {
    for (const auto kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
        for (const std::uint64_t chunks : {1U, 3U}) {
            for (const std::uint64_t n : {2U, 5U, 8U, 31U})
                check_optimal(on_all_npus(generators::ring(n, kUnit), kind, chunks));
            for (const Dims& dims : std::vector<Dims>{{3, 3}, {4, 4}, {5, 7}, {8, 8}, {2, 9}, {4, 3, 5}})
                check_optimal(on_all_npus(generators::torus(dims, kUnits), kind, chunks));
            for (const std::uint64_t d : {3U, 5U, 7U})
                check_optimal(on_all_npus(generators::hypercube(d, kUnits), kind, chunks));
            check_optimal(on_all_npus(generators::fully_connected(9, kUnit), kind, chunks));
        }
    }
}

TEST_CASE("heterogeneous tori meet the bound") {
    // 1 MiB at 200, 100 and 50 GiB/s, 0.5 us, one message in flight; in units of 1 ns.
    const auto wire = [](std::int64_t beta) { return Wire{Ticks(500), Ticks(beta), {}}; };
    auto torus = generators::torus(Dims{4, 4, 8}, std::vector<Wire>{wire(4883), wire(9766), wire(19532)});
    torus.busy = Busy::AlphaPlusBeta;
    check_optimal(on_all_npus(torus, CollectiveKind::AllGather, 1), 1'000'000);
    auto square = generators::torus(Dims{8, 8}, std::vector<Wire>{wire(19532), wire(39063)});
    square.busy = Busy::AlphaPlusBeta;
    check_optimal(on_all_npus(square, CollectiveKind::AllGather, 1), 1'000'000);
}

TEST_CASE("sums along trees need fewer latencies than a reduce-scatter and an all-gather") {
    // Eight slots of 40 ticks either way. A composition has chains of eight messages; a tree whose diameter
    // is 7 has one of seven.
    const std::vector<Wire> wires{{Ticks(1), Ticks(40), {}}};
    const Instance instance = on_all_npus(generators::torus(Dims{4, 4}, wires), CollectiveKind::AllReduce, 1);
    CHECK(synthesised(instance, Ticks(0)).makespan == Ticks(8 * 40 + 8));
    CHECK(trees_of(instance, Ticks(326), 3'000'000).makespan == Ticks(8 * 40 + 6));
}

TEST_CASE("sums along trees are valid on any symmetric network") {
    const std::vector<Wire> wires{{Ticks(0), Ticks(1), {}}, {Ticks(2), Ticks(3), {}}};
    for (const std::uint64_t chunks : {1U, 2U}) {
        for (const TopologyParts& topology :
             {generators::ring(2, kUnit), generators::ring(7, wires[1]), generators::torus(Dims{3, 4}, wires),
              generators::torus(Dims{2, 2, 3}, kUnits), generators::hypercube(4, kUnits),
              generators::fully_connected(5, wires[1])}) {
            trees_of(on_all_npus(topology, CollectiveKind::AllReduce, chunks), Ticks(0), 100'000);
        }
    }
}

TEST_CASE("where there are links one way only, no tree is exchanged along") {
    TopologyParts one_way = generators::ring(5, kUnit);
    std::erase_if(one_way.links,
                  [](const Link& link) { return (link.src.value() + 1) % 5 != link.dst.value(); });
    const Instance instance = on_all_npus(one_way, CollectiveKind::AllReduce, 1);
    Rng rng(1);
    CHECK_FALSE(heuristics::symmetric_trees(instance, Ticks(0), rng, Stop(), 1'000));
    const Instance gather = on_all_npus(generators::ring(5, kUnit), CollectiveKind::AllGather, 1);
    CHECK_FALSE(heuristics::symmetric_trees(gather, Ticks(0), rng, Stop(), 1'000));
}

TEST_CASE("an all-reduce takes twice its reduce-scatter") {
    const TopologyParts torus = generators::torus(Dims{4, 4}, kUnits);
    const Ticks half = bounds::simple_bounds(on_all_npus(torus, CollectiveKind::ReduceScatter, 2))[0].value;
    CHECK(synthesised(on_all_npus(torus, CollectiveKind::AllReduce, 2), half * 2).makespan == half * 2);
}

TEST_CASE("an all-to-all keeps the busiest links busy all the time") {
    // Half of the hops of a dimension go each way: d * d / 8 per NPU of the others for even d, (d * d - 1) /
    // 8 for odd.
    const auto optimum = [](const Dims& dims) {
        std::uint64_t all = 1, most = 0;
        for (const std::uint64_t d : dims) all *= d;
        for (const std::uint64_t d : dims) most = std::max(most, all / d * (d * d / 4) / 2);
        return Ticks(static_cast<std::int64_t>(most));
    };
    for (const Dims& dims : std::vector<Dims>{{8, 8}, {5, 7}, {4, 4, 4}, {16}, {9, 3}, {8, 8, 8}}) {
        CAPTURE(dims[0]);
        const Instance instance = on_all_npus(generators::torus(dims, kUnits), CollectiveKind::AllToAll);
        CHECK(synthesised(instance, optimum(dims)).makespan == optimum(dims));
    }
    check_optimal(on_all_npus(generators::hypercube(5, kUnits), CollectiveKind::AllToAll, 2));
    check_optimal(on_all_npus(generators::fully_connected(7, kUnit), CollectiveKind::AllToAll, 3));
}

TEST_CASE("an even mesh gathers along a ring through it, at the bound") {
    for (const Dims& dims : std::vector<Dims>{{4, 4}, {3, 6}, {5, 8}}) {
        check_optimal(on_all_npus(generators::mesh(dims, kUnits), CollectiveKind::AllGather));
        check_optimal(on_all_npus(generators::mesh(dims, kUnits), CollectiveKind::ReduceScatter, 2));
    }
    auto mesh = generators::mesh(Dims{4, 6}, std::vector<Wire>{{Ticks(3), Ticks(2), {}}});
    mesh.busy = Busy::AlphaPlusBeta;
    check_optimal(on_all_npus(mesh, CollectiveKind::AllGather));
    // Corners of three links can do better than a ring.
    Rng rng(1);
    const Instance cube = on_all_npus(generators::mesh(Dims{4, 4, 4}, kUnits), CollectiveKind::AllGather);
    CHECK_FALSE(heuristics::quotient_synthesis(cube, Ticks(21), rng, Stop()));
}

TEST_CASE("partly regular networks are served by several representatives") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const Instance instance = random_symmetric_instance(rng);
        synthesised(instance, Ticks(0), 300);
    }
}

TEST_CASE("a late release delays everything") {
    const TopologyParts ring = generators::ring(6, kUnit);
    InstanceParts parts{
        "x", ring, {{"all", nodes({0, 1, 2, 3, 4, 5})}}, {collective(CollectiveKind::AllReduce)}};
    parts.collectives[0].release = Ticks(100);
    CHECK(synthesised(Instance(parts), Ticks(106)).makespan == Ticks(106));
}

TEST_CASE("the quotient heuristic declines instances without symmetry") {
    Rng rng(1);
    const auto none = [&](const Instance& instance) {
        return !heuristics::quotient_synthesis(instance, Ticks(0), rng, Stop()).has_value();
    };
    const TopologyParts ring = generators::ring(6, kUnit);
    CHECK(none(on_all_npus(ring, CollectiveKind::Broadcast)));
    CHECK(none(on_all_npus(ring, CollectiveKind::Scatter)));
    CHECK(none(on_all_npus(generators::mesh(Dims{3, 3}, kUnits), CollectiveKind::AllGather)));
    CHECK(none(on_all(star(4, {}), {collective(CollectiveKind::AllGather)})));
    CHECK(none(Instance({"x", ring, {{"half", nodes({0, 2, 4})}}, {collective(CollectiveKind::AllGather)}})));
    // Out of reach.
    CHECK(none(
        on_all(Net(4).link(0, 1).link(1, 0).link(2, 3).link(3, 2), {collective(CollectiveKind::AllGather)})));
    const std::atomic<bool> raised = true;
    CHECK_FALSE(heuristics::quotient_synthesis(on_all_npus(ring, CollectiveKind::AllGather), Ticks(0), rng,
                                               Stop({}, &raised)));
}

TEST_CASE("the same seed gives the same schedule in the quotient") {
    for (const auto kind : {CollectiveKind::AllReduce, CollectiveKind::AllToAll}) {
        const Instance instance = on_all_npus(generators::torus(Dims{3, 4}, kUnits), kind, 2);
        CHECK(synthesised(instance, Ticks(0)).sends == synthesised(instance, Ticks(0)).sends);
    }
}

TEST_CASE("a search in the quotient ends when its time is up, with the best so far") {
    Rng rng(1);
    for (const auto kind : {CollectiveKind::AllGather, CollectiveKind::AllToAll}) {
        const Instance instance = on_all_npus(generators::torus(Dims{3, 4}, kUnits), kind);
        const Stop soon(Stop::Seconds(0.05));
        CHECK(heuristics::quotient_synthesis(instance, Ticks(0), rng, soon, ~std::uint64_t{0}));
    }
}
