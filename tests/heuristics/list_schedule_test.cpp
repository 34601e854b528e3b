#include "heuristics/paths/list_schedule.hpp"

#include "heuristics/paths/justification.hpp"
#include "tests/heuristics/spread_problems.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::heuristics;
using test::collective;

namespace {

HopId hop_between(const HopGraph& graph, std::size_t from, std::size_t to) {
    for (const HopEnd& out : graph.out(NodeId(from))) {
        if (out.node == NodeId(to)) return out.hop;
    }
    FAIL("no such hop");
    return {};
}

/// Scatter from NPU 0 of a line, chunk after chunk along it.
TreePlan line_scatter(const HopGraph& graph, std::size_t npus) {
    TreePlan plan;
    plan.begin.push_back(0);  // its own share
    for (std::size_t to = 1; to < npus; ++to) {
        for (std::size_t n = 0; n < to; ++n) plan.hops.push_back(hop_between(graph, n, n + 1));
        plan.begin.push_back(static_cast<std::uint32_t>(plan.hops.size()));
    }
    return plan;
}

Instance scatter(const test::Net& net) {
    Collective kind = collective(CollectiveKind::Scatter);
    kind.root = Rank(0);
    return test::on_all(net, {kind});
}

}  // namespace

TEST_CASE("list scheduling sends the farthest chunk first and so loses no time") {
    for (const auto& [alpha, beta] : {std::pair{0, 1}, {3, 2}, {1'000'000, 19'531'250}}) {
        const Instance instance = scatter(test::line(6, alpha, beta));
        const HopGraph graph(instance);
        const auto problem = test::spread_problem(graph);
        const auto solution = list_schedule(problem, line_scatter(graph, 6), {}, Stop());
        REQUIRE(solution);
        CHECK(test::complaint(graph, *solution) == "");
        // The farthest leaves first, 5 hops away; the others follow in its wake.
        CHECK(solution->makespan == Ticks(5 * (alpha + beta)));
    }
}

TEST_CASE("list scheduling keeps links busy for alpha + beta where the topology says so") {
    test::Net net = test::line(4, 2, 1);
    net.one_in_flight();
    const Instance instance = scatter(net);
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph);
    const auto solution = list_schedule(problem, line_scatter(graph, 4), {}, Stop());
    REQUIRE(solution);
    CHECK(test::complaint(graph, *solution) == "");
    CHECK(solution->makespan == Ticks(9));
}

TEST_CASE("list scheduling branches trees at NPUs and starts nothing before it is released") {
    Collective kind = collective(CollectiveKind::Broadcast);
    kind.root = Rank(1);
    kind.release = Ticks(7);
    const Instance instance = test::on_all(test::line(4), {kind});
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph);
    TreePlan plan;
    plan.hops = {hop_between(graph, 1, 0), hop_between(graph, 1, 2), hop_between(graph, 2, 3)};
    plan.parents = {TreePlan::kRoot, TreePlan::kRoot, 1};
    plan.begin = {0, 3};
    const auto solution = list_schedule(problem, plan, {}, Stop());
    REQUIRE(solution);
    CHECK(test::complaint(graph, *solution) == "");
    CHECK(solution->makespan == Ticks(9));
}

TEST_CASE("list scheduling goes round what the calendar has booked") {
    const Instance instance = scatter(test::line(3));
    const HopGraph graph(instance);
    auto problem = test::spread_problem(graph);
    problem.calendar.book(graph, hop_between(graph, 1, 2), ChunkId(0), Ticks(1));
    problem.calendar.book(graph, hop_between(graph, 1, 2), ChunkId(0), Ticks(2));
    const auto solution = list_schedule(problem, line_scatter(graph, 3), {}, Stop());
    REQUIRE(solution);
    CHECK(test::complaint(graph, *solution) == "");
    CHECK(solution->makespan == Ticks(4));
}

TEST_CASE("ports of a crossbar take turns: an all-to-all through it needs no tick more than its bound") {
    const Instance instance =
        test::on_all(test::star(9, {.cut_through = true}, 1), {collective(CollectiveKind::AllToAll)});
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph);
    TreePlan plan;
    for (const Spread& spread : problem.spreads) {
        plan.hops.push_back(
            hop_between(graph, spread.sources.front().index(), spread.targets.front().index()));
        plan.begin.push_back(static_cast<std::uint32_t>(plan.hops.size()));
    }
    const auto solution = list_schedule(problem, plan, {}, Stop());
    REQUIRE(solution);
    CHECK(test::complaint(graph, *solution) == "");
    CHECK(solution->makespan == Ticks(8 + 2));
}

TEST_CASE("justification shortens a schedule with idle time and keeps it valid") {
    const Instance instance = scatter(test::line(6, 1, 2));
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph);
    const TreePlan plan = line_scatter(graph, 6);
    // One transfer after the other, nothing at once.
    std::vector<Ticks> starts;
    for (std::size_t a = 0; a < plan.hops.size(); ++a) {
        starts.emplace_back(3 * static_cast<std::int64_t>(a));
    }
    const Ticks before = solution_of(problem, plan, starts).makespan;
    const Ticks after = justify(problem, plan, starts, 8, Ticks(0), Stop());
    const auto solution = solution_of(problem, plan, starts);
    CHECK(test::complaint(graph, solution) == "");
    CHECK(solution.makespan == after);
    CHECK(before == Ticks(45));
    CHECK(after <= Ticks(17));
}

TEST_CASE("list scheduling that is stopped returns no schedule") {
    const Instance instance = scatter(test::line(3));
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph);
    CHECK_FALSE(list_schedule(problem, line_scatter(graph, 3), {}, Stop(Stop::Seconds(0))));
}
