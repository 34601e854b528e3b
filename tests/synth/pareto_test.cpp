#include "synth/pareto.hpp"

#include "models/backends/registry.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tutti;
using models::Decision;
using models::Ratio;

bool has_solver() {
    for (const models::BackendEntry& entry : models::backends()) {
        if (entry.open()) return true;
    }
    return false;
}

test::Net ring(std::uint32_t npus, std::int64_t alpha = 1, std::int64_t beta = 2) {
    test::Net net(npus);
    for (std::uint32_t u = 0; u < npus; ++u) net.both(u, (u + 1) % npus, alpha, beta);
    return net;
}

void check_schedules(const synth::ParetoPoint& point) {
    const auto& [rounds, round] = point.rounds;
    const Verdict verdict = verify::verify(rounds.instance, rounds.schedule);
    CHECK(verdict.valid());
    CHECK(verdict.makespan <= round * point.point.rounds);
    CHECK(verify::verify(point.ticks.instance, point.ticks.schedule).valid());
    CHECK(rounds.instance.chunks() == point.ticks.instance.chunks());
}

}  // namespace

TEST_CASE("every kind of collective gets verified algorithms") {
    if (!has_solver()) return;
    // Links of two speeds, two in parallel, one that has no way back.
    test::Net net(4);
    net.both(0, 1, 1, 2).both(1, 2, 1, 4).both(2, 3, 0, 2).both(3, 0, 2, 4).link(0, 2, 1, 4).link(0, 2, 1, 4);
    for (const std::string_view name : collective_kind_names()) {
        const auto kind = kind_named(name).value();
        Collective collective = test::collective(kind);
        collective.chunks = 3;
        if (kind == CollectiveKind::AllToAllV)
            collective.counts = {{0, 1, 2, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 0, 0}};
        if (kind == CollectiveKind::Permute) collective.pairs = {{Rank(0), Rank(2)}, {Rank(3), Rank(1)}};
        if (kind == CollectiveKind::Custom) {
            collective.demands = {{test::nodes({0, 1}), test::nodes({2, 3}), false, {}},
                                  {test::nodes({2}), test::nodes({0}), false, {}}};
        }
        INFO(name);
        models::ParetoRequest request;
        request.max_chunks = 2;
        const auto result = synth::pareto(test::on_all(net, {collective}), request);
        CHECK(result.complete);
        REQUIRE_FALSE(result.points.empty());
        CHECK(result.points.front().latency_optimal);
        CHECK(result.composition == (kind == CollectiveKind::AllReduce));
        for (const synth::ParetoPoint& point : result.points) check_schedules(point);
        for (std::size_t i = 1; i < result.points.size(); ++i) {
            CHECK(result.points[i - 1].point.steps < result.points[i].point.steps);
            CHECK(result.points[i].ratio < result.points[i - 1].ratio);
        }
    }
}

TEST_CASE("a custom reduction to one receiver is a reversed broadcast") {
    if (!has_solver()) return;
    const auto instance = test::on_all(ring(4), {test::custom({1, 2, 3}, {0}, true)});
    const auto result = synth::pareto(instance, {});
    CHECK(result.complete);
    for (const synth::ParetoPoint& point : result.points) check_schedules(point);
}

TEST_CASE("an all-reduce on a ring of 5 is proven optimal as a composition, and nothing below it exists") {
    if (!has_solver()) return;
    const auto instance = test::on_all(ring(5), {test::collective(CollectiveKind::AllReduce)});
    const auto result = synth::pareto(instance, {});
    CHECK(result.complete);
    CHECK(result.composition);
    REQUIRE(result.points.size() == 1);
    CHECK(result.points.front().point == models::StepPoint{4, 4, 1});
    CHECK(result.points.front().sccl_chunks == 5);
    CHECK(result.points.front().ratio == Ratio{4, 5});
    CHECK(result.points.front().bandwidth_optimal);
    CHECK(synth::pareto_point(instance, {3, 9, 1}, {}).decision == Decision::Infeasible);
    CHECK(synth::pareto_point(instance, {4, 7, 2}, {}).decision == Decision::Infeasible);
    const auto there = synth::pareto_point(instance, {4, 8, 2}, {});
    REQUIRE(there.decision == Decision::Feasible);
    check_schedules(*there.found);
}

TEST_CASE("halves of different steps make compositions that twice one half misses") {
    if (!has_solver()) return;
    // The all-gather has (2, 2, 1) and (3, 3, 2) here.
    test::Net net(4);
    net.both(0, 1).both(0, 1).both(1, 2).both(1, 3).both(2, 3);
    const auto instance = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
    models::ParetoRequest request;
    std::vector<models::StepPoint> expected{{4, 4, 1}, {5, 7, 2}, {6, 6, 2}};
    SUBCASE("without a limit") {}
    SUBCASE("within R <= S the halves must be alike") {
        request.k = 0;
        expected.erase(expected.begin() + 1);
    }
    const auto result = synth::pareto(instance, request);
    CHECK(result.complete);
    REQUIRE(result.points.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(result.points[i].point == expected[i]);
        check_schedules(result.points[i]);
    }
}

TEST_CASE("a one-way ring: the reduction goes with the links") {
    if (!has_solver()) return;
    test::Net net(4);
    for (std::size_t u = 0; u < 4; ++u) net.link(u, (u + 1) % 4);
    for (const auto kind : {CollectiveKind::ReduceScatter, CollectiveKind::AllReduce}) {
        const auto result = synth::pareto(test::on_all(net, {test::collective(kind)}), {});
        CHECK(result.complete);
        REQUIRE(result.points.size() == 1);
        CHECK(result.points.front().point.steps == (kind == CollectiveKind::AllReduce ? 6 : 3));
        check_schedules(result.points.front());
    }
}

TEST_CASE("collectives outside the synchronous model are refused with the reason") {
    const auto all_gather = test::collective(CollectiveKind::AllGather);
    CHECK_THROWS_WITH_AS(static_cast<void>(synth::pareto(test::on_all(test::star(3, {}), {all_gather}), {})),
                         doctest::Contains("knows no switches"), InputError);
    auto second = all_gather;
    second.id = "d";
    CHECK_THROWS_WITH_AS(static_cast<void>(synth::pareto(test::on_all(ring(3), {all_gather, second}), {})),
                         doctest::Contains("one collective"), InputError);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(synth::pareto(test::on_all(ring(4), {test::custom({0, 1}, {2, 3}, true)}), {})),
        doctest::Contains("one receiver"), InputError);
    test::Net cut(3);
    cut.both(0, 1);
    CHECK_THROWS_AS(static_cast<void>(synth::pareto(test::on_all(cut, {all_gather}), {})), InfeasibleError);
}
