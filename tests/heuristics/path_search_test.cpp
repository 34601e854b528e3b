#include "heuristics/paths/path_search.hpp"

#include "heuristics/paths/target_distances.hpp"
#include "tests/heuristics/spread_problems.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/spread_case.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::heuristics;

TEST_CASE("a way by the survey is the cheapest of the shortest ones, as long as prices stay") {
    std::uint64_t compared = 0;
    test::for_seeds(test::cases(60), [&](Rng& rng, std::uint64_t) {
        const auto parts = test::without_reductions(test::random_instance(rng));
        if (parts.collectives.empty()) return;
        const test::SpreadCase given(parts);
        const SpreadProblem& problem = given.problem;
        if (problem.spreads.empty() || given.graph.hops() == 0) return;
        const HopTimes times(problem);
        LinkPrices prices(problem, times, {10, 0.1});
        prices.set_base(4);
        for (std::size_t h = 0; h < given.graph.hops(); ++h) {
            if (rng.below(2) == 0) prices.add(HopId(h), 0);
        }
        std::vector<NodeId> targets;
        for (const Spread& spread : problem.spreads) targets.push_back(spread.targets.front());
        TargetDistances distances(problem, targets);
        PathSearch search(given.graph, prices);
        for (std::size_t i = 0; i < problem.spreads.size(); ++i) {
            distances.fill(distances.block_of(i));
            const auto row = distances.row(i);
            const auto& sources = problem.spreads[i].sources;
            const auto cost_of = [&](std::span<const HopId> path) {
                double cost = 0;
                for (const HopId hop : path) cost += prices.price(hop, times.kind(i));
                return cost;
            };
            const auto shortest = search.shortest(sources, targets[i], times.kind(i), row);
            const std::size_t hops = shortest.size();
            const double cost = cost_of(shortest);
            search.survey(distances.nearest_first(i), times.kind(i), row);
            const auto followed = search.follow(sources, times.kind(i), row);
            if (sources.size() > 1) continue;  // one is the cheapest from any source, one from the nearest
            CHECK(followed.size() == hops);
            CHECK(cost_of(followed) == doctest::Approx(cost));
            ++compared;
        }
    });
    CHECK(compared > 0);
}

TEST_CASE("distances on a crossbar are complete, though the search for them ends after the first node") {
    const Instance instance =
        test::on_all(test::star(6, {.cut_through = true}), {test::collective(CollectiveKind::AllToAll)});
    const HopGraph graph(instance);
    const auto problem = test::spread_problem(graph, Ticks(0));
    std::vector<NodeId> targets;
    for (const Spread& spread : problem.spreads) targets.push_back(spread.targets.front());
    TargetDistances distances(problem, targets);
    distances.fill(0);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        CHECK(distances.nearest_first(i).size() == 6);
        CHECK(distances.nearest_first(i).front() == targets[i].value());
        CHECK(distances.row(i)[problem.spreads[i].sources.front().index()] <= 1);
    }
}
