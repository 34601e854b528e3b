// How good flooding and the search after it are, as ratios to bounds, and that what they give is valid.

#include "heuristics/flood/flood_matcher.hpp"
#include "bounds/bounds.hpp"
#include "core/generators/dgx.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/product.hpp"
#include "core/generators/ring.hpp"
#include "heuristics/flood/flood_search.hpp"
#include "heuristics/trees/repair.hpp"
#include "heuristics/trees/tree_insertion.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace tutti;
using namespace tutti::heuristics;

namespace {

/// An instance with its problem: every plain demand as a spread.
struct Case {
    explicit Case(const InstanceParts& parts, bool with_cuts = false) : instance(parts), graph(instance) {
        problem.target =
            (with_cuts ? bounds::all_bounds(instance) : bounds::simple_bounds(instance)).front().value;
        for (std::size_t c = 0; c < instance.chunks(); ++c) {
            const Demand demand = instance.demand(ChunkId(c));
            problem.spreads.push_back(
                {ChunkId(c), demand.holders, instance.last_release(ChunkId(c)), demand.receivers});
        }
    }
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    [[nodiscard]] double ratio(const SpreadSolution& solution) const {
        return static_cast<double>(solution.makespan.count()) / static_cast<double>(problem.target.count());
    }
    void check_valid(const SpreadSolution& solution) const {
        Schedule schedule{instance.name(), solution.makespan, {}};
        for (const Transfer& t : solution.transfers) {
            schedule.sends.push_back({t.chunk, graph.hop(t.hop).legs.front(), t.start, Op::Copy});
        }
        const auto verdict = verify::verify(instance, schedule);
        INFO(test::json_of(instance));
        const std::string fault = verdict.valid() ? "" : verdict.violations.front().message;
        INFO(fault);
        CHECK(verdict.valid());
    }

    Instance instance;
    HopGraph graph;
    SpreadProblem problem{graph, {}, LinkCalendar(instance.topology().links().size()), Ticks(0)};
};

InstanceParts all_gather(TopologyParts topology, std::uint64_t chunks, Busy busy = Busy::Beta) {
    InstanceParts parts;
    parts.name = "case";
    parts.topology = std::move(topology);
    parts.topology.busy = busy;
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < parts.topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {test::collective(CollectiveKind::AllGather)};
    parts.collectives[0].chunks = chunks;
    return parts;
}

Wire wire(std::int64_t alpha, std::int64_t beta) { return {Ticks(alpha), Ticks(beta), {}}; }

using Dims = std::vector<std::uint64_t>;
using Wires = std::vector<Wire>;

TopologyParts product(const std::vector<generators::Factor>& factors) { return generators::product(factors); }

void check_search(const InstanceParts& parts, double factor, std::size_t runs = 16, std::uint64_t moves = 0,
                  bool with_cuts = false) {
    const Case c(parts, with_cuts);
    Rng rng(7);
    auto solution = flood_search(c.problem, rng, Stop(), runs);
    REQUIRE(solution);
    if (moves > 0) solution = improve(c.problem, std::move(*solution), rng, Stop(), moves);
    CHECK(c.ratio(*solution) <= factor);
    c.check_valid(*solution);
}

/// A random instance of plain collectives on NPUs alone.
InstanceParts random_npus(Rng& rng, bool whole_groups) {
    for (;;) {
        InstanceParts parts = test::random_instance(
            rng, {.max_npus = 8, .max_switches = 0, .max_chunks = 3, .group_forwarding = false});
        for (Collective& collective : parts.collectives) {
            collective.kind = rng.below(2) == 0 ? CollectiveKind::AllGather : CollectiveKind::Broadcast;
            collective.root.reset();
            if (collective.kind == CollectiveKind::Broadcast) collective.root = Rank(0);
            collective.counts.clear();
            collective.pairs.clear();
            collective.demands.clear();
        }
        if (whole_groups) {
            for (Group& group : parts.groups) {
                group.members.clear();
                for (std::size_t n = 0; n < parts.topology.npus; ++n) group.members.emplace_back(n);
            }
        }
        try {
            if (test::is_feasible(Instance(parts))) return parts;
        } catch (const InputError&) {
            continue;  // drawn in vain: say, a group of one
        }
    }
}

}  // namespace

TEST_CASE("one run of the matcher meets the bound on even meshes, tori and hypercubes") {
    for (const Busy busy : {Busy::Beta, Busy::AlphaPlusBeta}) {
        const Wires wires{wire(0, 1)};
        for (const TopologyParts& topology :
             {generators::mesh(Dims{16, 16}, wires), generators::torus(Dims{8, 8}, wires),
              generators::torus(Dims{16, 16}, wires), generators::torus(Dims{11, 13}, wires),
              generators::torus(Dims{4, 5, 6}, wires), generators::mesh(Dims{8, 8}, Wires{wire(5, 1)})}) {
            const Case c(all_gather(topology, 1, busy));
            Rng rng(1);
            const auto solution = flood(c.problem, rng, Stop());
            REQUIRE(solution);
            CHECK(c.ratio(*solution) == 1.0);
            c.check_valid(*solution);
            CHECK(std::ranges::is_sorted(solution->transfers, {}, &Transfer::start));
        }
    }
}

TEST_CASE("rows of more than one window still meet the bound") {
    const Case c(all_gather(generators::torus(Dims{18, 18}, Wires{wire(0, 1)}), 4));
    Rng rng(1);
    const auto solution = flood(c.problem, rng, Stop());
    REQUIRE(solution);
    CHECK(c.ratio(*solution) <= 1.005);
    c.check_valid(*solution);
}

TEST_CASE("on rings the search with heights is within 2 % of the bound") {
    check_search(all_gather(generators::ring(64, wire(0, 1)), 4), 1.0);
    check_search(all_gather(generators::ring(33, wire(1, 2)), 5), 1.02);
}

TEST_CASE("deadlines keep slow links from taking the last chunks") {
    check_search(
        all_gather(generators::torus(Dims{8, 8}, Wires{wire(5, 200), wire(5, 395)}), 4, Busy::AlphaPlusBeta),
        1.0);
    check_search(all_gather(product({{generators::Shape::FullyConnected, 6, wire(10, 1000)},
                                     {generators::Shape::FullyConnected, 6, wire(5, 100)}}),
                            1, Busy::AlphaPlusBeta),
                 1.1);
    check_search(all_gather(generators::mesh(Dims{8, 8}, Wires{wire(5, 100), wire(5, 400)}), 1), 1.02);
}

TEST_CASE("slow links between clusters carry what fast links cannot spread") {
    const auto one_way = product({{generators::Shape::Ring, 2, wire(5, 49)},
                                  {generators::Shape::FullyConnected, 8, wire(5, 98)},
                                  {generators::Shape::OneWayRing, 8, wire(5, 195)}});
    check_search(all_gather(one_way, 1, Busy::AlphaPlusBeta), 1.03, 16, 0, true);
    const auto servers = product(
        {{generators::Shape::Ring, 6, wire(20, 400)}, {generators::Shape::FullyConnected, 8, wire(5, 50)}});
    check_search(all_gather(servers, 2, Busy::AlphaPlusBeta), 1.1, 16, 0, true);
}

TEST_CASE("failed and slowed links are worked around") {
    TopologyParts torus = generators::torus(Dims{7, 7}, Wires{wire(1, 10)});
    torus.links.erase(torus.links.begin() + 10, torus.links.begin() + 14);
    torus.links[40].wire.beta = Ticks(35);
    torus.links[41].wire.beta = Ticks(27);
    check_search(all_gather(torus, 2), 1.06);
}

TEST_CASE("taking chunks out and putting them back finds the optimum of a DGX-1") {
    // 60.1 us at 25 GiB/s for a NVLink: proven by the exact method, and the bound.
    const InstanceParts parts =
        all_gather(generators::dgx1(wire(500, 39063), generators::Bonding::Bonded), 1, Busy::AlphaPlusBeta);
    check_search(parts, 1.0, 8, 50'000);
}

TEST_CASE("every variant of flooding gives valid schedules on random networks of NPUs") {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const Case c(random_npus(rng, true));
        FloodMatcher matcher(c.problem);
        for (FloodOptions options : matcher.variants()) {
            for (const Ticks deadline : {Ticks(0), c.problem.target}) {
                options.deadline = deadline;
                const auto solution = matcher.run(options, rng, Stop());
                REQUIRE(solution);
                c.check_valid(*solution);
            }
        }
    }
}

TEST_CASE("repair keeps schedules valid, with relays outside the group, and never makes them longer") {
    std::size_t improved = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const Case c(random_npus(rng, false));
        const auto first = insert_trees(c.problem, rng, Stop());
        REQUIRE(first);
        const SpreadSolution better = improve(c.problem, *first, rng, Stop(), 200);
        c.check_valid(better);
        CHECK(better.makespan <= first->makespan);
        improved += better.makespan < first->makespan ? 1U : 0U;
    }
    CHECK(improved > 0);
}

TEST_CASE("repair does not touch earlier bookings") {
    const Case c(all_gather(generators::ring(5, wire(0, 2)), 1));
    SpreadProblem problem = c.problem;
    for (std::size_t h = 0; h < c.graph.hops(); ++h) {
        problem.calendar.book(c.graph, HopId(h), ChunkId(0), Ticks(3));
    }
    Rng rng(1);
    const auto first = insert_trees(problem, rng, Stop());
    REQUIRE(first);
    const SpreadSolution better = improve(problem, *first, rng, Stop(), 300);
    for (const Transfer& t : better.transfers) CHECK((t.start <= Ticks(1) || t.start >= Ticks(5)));
    c.check_valid(better);
}

TEST_CASE("the same seed floods and repairs to the same schedule") {
    const Case c(all_gather(generators::torus(Dims{4, 6}, Wires{wire(1, 7), wire(2, 10)}), 2));
    const auto once = [&] {
        Rng rng(3);
        auto solution = flood_search(c.problem, rng, Stop(), 10);
        return improve(c.problem, std::move(*solution), rng, Stop(), 200);
    };
    const SpreadSolution a = once(), b = once();
    CHECK(a.makespan == b.makespan);
    CHECK(std::ranges::equal(a.transfers, b.transfers, [](const Transfer& x, const Transfer& y) {
        return x.hop == y.hop && x.chunk == y.chunk && x.start == y.start;
    }));
}

TEST_CASE("flooding gives up when stopped, and repair returns what it was given") {
    const Case c(all_gather(generators::torus(Dims{4, 6}, Wires{wire(1, 7), wire(2, 10)}), 1));
    Rng rng(3);
    const std::atomic<bool> stopped = true;
    const Stop stop(std::nullopt, &stopped);
    CHECK_FALSE(flood(c.problem, rng, stop));
    CHECK_FALSE(flood_search(c.problem, rng, stop, 5));
    const auto solution = flood(c.problem, rng, Stop());
    REQUIRE(solution);
    CHECK(improve(c.problem, *solution, rng, stop, 100).makespan == solution->makespan);
}

TEST_CASE("flooding declines networks with switches") {
    const Instance instance = test::on_all(test::star(3, {}), {test::collective(CollectiveKind::AllGather)});
    const HopGraph graph(instance);
    const SpreadProblem problem{graph, {}, LinkCalendar(instance.topology().links().size()), Ticks(0)};
    Rng rng(1);
    CHECK_FALSE(flood(problem, rng, Stop()));
    CHECK(FloodMatcher(problem).variants().empty());
}
