// One chunk of an all-reduce alone: what it refutes by hand, and that it never refutes a horizon for which
// there is a schedule.

#include "models/encode/alone.hpp"

#include "heuristics/greedy.hpp"
#include "models/backends/registry.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/oracle_data.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;
using models::AlonePairs;

namespace {

Net ring_of(std::uint32_t npus, std::int64_t alpha, std::int64_t beta) {
    Net net(npus);
    for (std::uint32_t i = 0; i < npus; ++i) net.both(i, (i + 1) % npus, alpha, beta);
    return net;
}

/// How the question ends; Failed where it does not arise, Stopped without HiGHS or if it is too large.
models::Ended ended_alone(const Instance& instance, Ticks horizon, AlonePairs pairs, double seconds = 60) {
    static const models::OpenedBackend opened = models::find_backend("highs")->open();
    const models::Routing routing(instance);
    const auto question =
        models::alone(routing, {.horizon = routing.units(horizon), .most_size = 20'000}, pairs);
    if (!question) return models::Ended::Failed;
    if (!opened || question->too_large) return models::Ended::Stopped;
    models::SolveLimits limits{Stop().within(Stop::Seconds(seconds))};
    limits.presolve = false;
    const auto answer = opened.backend->solve(question->program, limits);
    return answer.has_solution() ? models::Ended::Optimal : answer.ended;
}

/// A ring with links of any speed, some chords, and sometimes a switch of any rule between some of them.
Instance random_all_reduce(Rng& rng) {
    const auto npus = static_cast<std::uint32_t>(3 + rng.below(4));
    Net net(npus);
    const auto speed = [&](std::uint64_t below) { return static_cast<std::int64_t>(rng.below(below)); };
    const bool alike = rng.below(2) == 0;
    const std::int64_t alpha = speed(4), beta = 1 + speed(3);
    const auto both = [&](std::size_t a, std::size_t b) {
        if (alike) net.both(a, b, alpha, beta);
        if (!alike) net.link(a, b, speed(4), 1 + speed(3)).link(b, a, speed(4), 1 + speed(3));
    };
    for (std::uint32_t i = 0; i < npus; ++i) both(i, (i + 1) % npus);
    if (rng.below(2) == 0) both(0, 2);
    if (rng.below(2) == 0) {
        const std::size_t hub = net.add_switch(
            {.copy = rng.below(2) == 0, .reduce = rng.below(2) == 0, .cut_through = rng.below(2) == 0});
        for (std::uint32_t i = 0; i < npus; i += 2) both(i, hub);
    }
    if (rng.below(3) == 0) net.one_in_flight();
    Collective sum = collective(CollectiveKind::AllReduce);
    sum.chunks = 1 + rng.below(2);
    set_release(sum, Ticks(speed(3)));
    return on_all(net, {sum});
}

}  // namespace

TEST_CASE("alone: a ring of 8 has no room for chunks that are done after 6 hops") {
    const Instance ring = on_all(ring_of(8, 1, 2), {collective(CollectiveKind::AllReduce)});
    const models::Routing routing(ring);
    const auto question = models::alone(routing, {.horizon = 20}, AlonePairs::Farthest);
    REQUIRE(question);
    CHECK(question->share == 18);              // 16 links, starts at 0, 2, …, 16: 144 for 8 chunks
    CHECK(question->program.choices() >= 16);  // 7 hops the other way round are too many
    const auto short_one = ended_alone(ring, Ticks(20), AlonePairs::Farthest);
    if (short_one == models::Ended::Stopped) return;
    CHECK(short_one == models::Ended::Infeasible);
    CHECK(ended_alone(ring, Ticks(20), AlonePairs::Few) == models::Ended::Infeasible);
    CHECK(ended_alone(ring, Ticks(21), AlonePairs::Farthest) == models::Ended::Optimal);
    CHECK(ended_alone(ring, Ticks(21), AlonePairs::Many) == models::Ended::Optimal);
}

TEST_CASE("alone: a schedule of short chains with few sends needs no solver") {
    const Instance ring = on_all(ring_of(4, 1, 2), {collective(CollectiveKind::AllReduce)});
    const models::Routing routing(ring);
    const auto schedule = heuristics::greedy(ring, {});
    REQUIRE(schedule);
    CHECK(models::fits_alone(routing, *schedule, schedule->makespan.count()));
    CHECK_FALSE(models::fits_alone(routing, *schedule, 2));
}

TEST_CASE("alone: only for equal sums, and not beyond its size") {
    const Instance gather = on_all(ring_of(4, 1, 2), {collective(CollectiveKind::AllGather)});
    CHECK_FALSE(models::alone(models::Routing(gather), {.horizon = 20}, AlonePairs::Many));
    const Instance ring = on_all(ring_of(8, 1, 2), {collective(CollectiveKind::AllReduce)});
    const auto question =
        models::alone(models::Routing(ring), {.horizon = 20, .most_size = 100}, AlonePairs::Many);
    REQUIRE(question);
    CHECK(question->too_large);
}

TEST_CASE("alone: no proven optimum is refuted") {
    for (const ProvenOptimum& proven : proven_optima()) {
        INFO(proven.instance.name());
        CHECK(ended_alone(proven.instance, proven.optimum, AlonePairs::Many, 2) != models::Ended::Infeasible);
        CHECK(ended_alone(proven.instance, proven.optimum, AlonePairs::Farthest, 2) !=
              models::Ended::Infeasible);
    }
}

TEST_CASE("alone: no horizon is refuted for which there is a schedule") {
    std::size_t asked = 0;
    for_seeds(cases(100), [&](Rng& rng, std::uint64_t) {
        const Instance instance = random_all_reduce(rng);
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        REQUIRE(verify::verify(instance, *schedule).valid());
        INFO(json_of(instance));
        const auto ended = ended_alone(instance, schedule->makespan, AlonePairs::Many, 2);
        CHECK(ended != models::Ended::Infeasible);
        CHECK(ended_alone(instance, schedule->makespan, AlonePairs::Farthest, 2) !=
              models::Ended::Infeasible);
        if (ended == models::Ended::Optimal) ++asked;
    });
    CHECK((asked == 0 || asked > cases(100) / 3));
}
