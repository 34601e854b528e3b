// Trees inserted in time, and what is late grown again.

#include "heuristics/trees/tree_insertion.hpp"

#include "core/generators/mesh_torus.hpp"
#include "heuristics/paths/list_schedule.hpp"
#include "heuristics/trees/steiner_trees.hpp"
#include "heuristics/trees/trim.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/spread_case.hpp"

#include <doctest/doctest.h>

#include <atomic>

using namespace tutti;
using namespace tutti::heuristics;
using test::SpreadCase;

namespace {

TopologyParts cube() {
    return generators::torus(std::vector<std::uint64_t>{8, 8, 8},
                             std::vector<Wire>{{Ticks(0), Ticks(1), {}}});
}

/// Books what a solution does into the problem's calendar; false if something was booked there already.
bool fits(const SpreadProblem& problem, const SpreadSolution& solution) {
    LinkCalendar calendar = problem.calendar;
    for (const auto& [hop, chunk, start] : solution.transfers) {
        if (calendar.earliest(problem.graph, hop, chunk, start) != start) return false;
        calendar.book(problem.graph, hop, chunk, start);
    }
    return true;
}

SpreadSolution listed(const SpreadProblem& problem, Rng& rng) {
    const auto plan = steiner_trees(problem, rng, Stop());
    REQUIRE(plan);
    auto solution = list_schedule(problem, *plan, {}, Stop());
    REQUIRE(solution);
    return *solution;
}

}  // namespace

TEST_CASE("insertion brings one scattered group of 64 within two steps of its bound") {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        CAPTURE(seed);
        Rng rng(seed);
        const SpreadCase given(test::scattered_groups(cube(), 1, 64, {CollectiveKind::AllGather}, rng));
        const auto solution = insert_trees(given.problem, rng, Stop());
        CHECK(given.is_valid(solution));
        CHECK(solution->makespan <= given.problem.target + Ticks(2));
        // Of ways that are about as early, the one with fewer links.
        CHECK(solution->transfers.size() < 64 * 155);
    }
}

TEST_CASE("trimming takes a tenth off list-scheduled groups and leaves them valid") {
    Rng rng(5);
    const SpreadCase given(test::scattered_groups(cube(), 8, 64, {CollectiveKind::AllGather}, rng));
    const SpreadSolution before = listed(given.problem, rng);
    const SpreadSolution after = trimmed(given.problem, before, rng, Stop());
    CAPTURE(before.makespan.count());
    CAPTURE(after.makespan.count());
    CHECK(given.is_valid(after));
    CHECK(after.makespan.count() * 10 <= before.makespan.count() * 9);
}

TEST_CASE("inserted and trimmed trees are valid on random instances, around bookings too") {
    std::size_t done = 0;
    test::for_seeds(test::cases(300), [&](Rng& rng, std::uint64_t seed) {
        const auto parts = test::without_reductions(
            test::random_instance(rng, {.max_npus = 9, .max_switches = 4, .max_collectives = 4}));
        if (parts.collectives.empty() || !test::is_feasible(Instance(parts))) return;
        SpreadCase given(parts);
        if (seed % 2 == 0 && given.instance.chunks() > 0) {
            for (std::size_t h = 0; h < given.graph.hops(); h += 2) {
                const ChunkId chunk(rng.below(given.instance.chunks()));
                const Ticks start = given.problem.calendar.earliest(
                    given.graph, HopId(h), chunk, Ticks(static_cast<std::int64_t>(rng.below(9))));
                given.problem.calendar.book(given.graph, HopId(h), chunk, start);
            }
        }
        INFO(test::json_of(given.instance));
        const auto solution = insert_trees(given.problem, rng, Stop());
        REQUIRE(given.is_valid(solution));
        CHECK(fits(given.problem, *solution));
        const SpreadSolution list = listed(given.problem, rng);
        const SpreadSolution shorter = trimmed(given.problem, list, rng, Stop());
        CHECK(shorter.makespan <= list.makespan);
        CHECK(given.is_valid(shorter));
        CHECK(fits(given.problem, shorter));
        ++done;
    });
    CHECK(done > 0);
}

TEST_CASE("insertion and trimming are the same for the same seed and obey stop") {
    Rng rng(3);
    const SpreadCase given(test::scattered_groups(cube(), 2, 16, {CollectiveKind::AllGather}, rng));
    const auto sends = [&](std::uint64_t seed) {
        Rng own(seed);
        return given.schedule(trimmed(given.problem, *insert_trees(given.problem, own, Stop()), own, Stop()))
            .sends;
    };
    CHECK(sends(1) == sends(1));
    CHECK(sends(1) != sends(2));

    const std::atomic<bool> raised = true;
    const Stop stopped(std::nullopt, &raised);
    CHECK_FALSE(insert_trees(given.problem, rng, stopped));
    const SpreadSolution list = listed(given.problem, rng);
    CHECK(trimmed(given.problem, list, rng, stopped).makespan == list.makespan);
}
