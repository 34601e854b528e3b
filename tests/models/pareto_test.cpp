#include "models/pareto.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tutti;
using namespace tutti::models;

bool has_solver() {
    for (const BackendEntry& entry : backends()) {
        if (entry.open()) return true;
    }
    return false;
}

StepProblem ring(std::size_t nodes, bool both_ways) {
    StepProblem problem;
    problem.nodes = nodes;
    for (std::size_t u = 0; u < nodes; ++u) {
        problem.arcs.push_back({NodeId(u), NodeId((u + 1) % nodes), 1});
        if (both_ways) problem.arcs.push_back({NodeId((u + 1) % nodes), NodeId(u), 1});
    }
    return problem;
}

StepProblem full(std::size_t nodes) {
    StepProblem problem;
    problem.nodes = nodes;
    for (std::size_t u = 0; u < nodes; ++u) {
        for (std::size_t v = 0; v < nodes; ++v) {
            if (u != v) problem.arcs.push_back({NodeId(u), NodeId(v), 1});
        }
    }
    return problem;
}

StepClass to_all_others(std::size_t holder, std::size_t nodes) {
    StepClass kind{{NodeId(holder)}, {}, 1};
    for (std::size_t v = 0; v < nodes; ++v) {
        if (v != holder) kind.receivers.emplace_back(v);
    }
    return kind;
}

StepProblem all_gather(StepProblem problem) {
    for (std::size_t u = 0; u < problem.nodes; ++u)
        problem.classes.push_back(to_all_others(u, problem.nodes));
    return problem;
}

std::vector<StepPoint> points_of(const Frontier& frontier) {
    std::vector<StepPoint> points;
    for (const FrontierPoint& point : frontier.points) points.push_back(point.answer.point);
    return points;
}

}  // namespace

TEST_CASE("the Pareto frontiers of known collectives are found") {
    if (!has_solver()) return;
    ParetoRequest request;
    SUBCASE("fully connected, all-gather: everything at once") {
        const Frontier frontier = pareto(all_gather(full(4)), request);
        CHECK(points_of(frontier) == std::vector<StepPoint>{{1, 1, 1}});
        CHECK(frontier.end == ParetoEnd::LeastRatio);
        CHECK(frontier.complete());
    }
    SUBCASE("ring of 4, all-gather: the opposite's two chunks come from either side") {
        const Frontier frontier = pareto(all_gather(ring(4, true)), request);
        CHECK(points_of(frontier) == std::vector<StepPoint>{{2, 3, 2}});
        CHECK(frontier.least_ratio == Ratio{3, 2});
        CHECK(frontier.complete());
    }
    SUBCASE("ring of 4, only R = S: latency and bandwidth part") {
        request.k = 0;
        const Frontier frontier = pareto(all_gather(ring(4, true)), request);
        CHECK(points_of(frontier) == std::vector<StepPoint>{{2, 2, 1}, {3, 3, 2}});
        CHECK(frontier.complete());
    }
    SUBCASE("one-way ring of 3, broadcast: a pipeline that never meets the bound") {
        StepProblem problem = ring(3, false);
        problem.classes.push_back(to_all_others(0, 3));
        request.max_chunks = 3;
        const Frontier frontier = pareto(problem, request);
        CHECK(points_of(frontier) == std::vector<StepPoint>{{2, 2, 1}, {3, 3, 2}, {4, 4, 3}});
        CHECK(frontier.end == ParetoEnd::ChunksExhausted);
        CHECK(frontier.complete());
    }
    SUBCASE("the same within 3 steps") {
        StepProblem problem = ring(3, false);
        problem.classes.push_back(to_all_others(0, 3));
        request.max_steps = 3;
        const Frontier frontier = pareto(problem, request);
        CHECK(points_of(frontier) == std::vector<StepPoint>{{2, 2, 1}, {3, 3, 2}});
        CHECK(frontier.end == ParetoEnd::StepsExhausted);
    }
}

TEST_CASE("every solver finds the same frontier") {
    const StepProblem problem = all_gather(ring(4, true));
    for (const BackendEntry& entry : backends()) {
        if (!entry.open()) continue;
        INFO(entry.name);
        ParetoRequest request;
        request.backend = entry.name;
        request.k = 0;
        const Frontier frontier = pareto(problem, request);
        CHECK(points_of(frontier) == std::vector<StepPoint>{{2, 2, 1}, {3, 3, 2}});
        CHECK(frontier.points.front().answer.by.starts_with(entry.solver));
    }
}

TEST_CASE("a refuted point settles those that are harder") {
    if (!has_solver()) return;
    // One source, two steps, one way: every chunk takes a round in each step, whatever the cuts allow.
    StepProblem problem = ring(3, false);
    problem.classes.push_back(to_all_others(0, 3));
    const ParetoRequest request;
    StepOracle oracle(problem, request);
    const PointAnswer first = oracle.ask({2, 5, 3});
    CHECK(first.decision == Decision::Infeasible);
    CHECK(first.by != "an earlier answer");
    CHECK(oracle.ask({2, 5, 4}).decision == Decision::Infeasible);
    CHECK(oracle.ask({2, 4, 3}).decision == Decision::Infeasible);
    CHECK(oracle.ask({2, 4, 3}).by == "an earlier answer");
    CHECK(oracle.ask({2, 6, 3}).decision == Decision::Feasible);
    CHECK(oracle.ask({3, 5, 3}).decision == Decision::Feasible);
}

TEST_CASE("points without time left stay undecided, and the search is marked as stopped") {
    if (!has_solver()) return;
    ParetoRequest request;
    request.seconds = 1e-9;
    const Frontier frontier = pareto(all_gather(ring(4, true)), request);
    CHECK(frontier.points.empty());
    CHECK(frontier.end == ParetoEnd::Stopped);
    CHECK_FALSE(frontier.complete());
}

TEST_CASE("bounds answer without a solver") {
    const StepProblem problem = all_gather(ring(5, true));
    const ParetoRequest request;
    StepOracle oracle(problem, request);
    CHECK(oracle.ask({1, 4, 1}).by == "distance");
    CHECK(oracle.ask({3, 3, 2}).by == "cut");
    CHECK(oracle.ask({4, 3, 1}).by == "definition");
    for (const StepPoint point : {StepPoint{1, 4, 1}, StepPoint{3, 3, 2}, StepPoint{4, 3, 1}}) {
        CHECK(oracle.ask(point).decision == Decision::Infeasible);
    }
}

TEST_CASE("as many chunks as the bound on R/C asks for, within reason") {
    CHECK(default_max_chunks({7, 6}) == 6);
    CHECK(default_max_chunks({2, 1}) == 4);
    CHECK(default_max_chunks({31, 30}) == 4);
}
