// Bounds from linear programs: by hand, against proven optima, and against schedules of random instances.
// Each certificate goes through the checker, which knows nothing of how it was found.

#include "models/relaxation.hpp"

#include "heuristics/greedy.hpp"
#include "models/backends/registry.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/oracle_data.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/solvers.hpp"
#include "verify/certificate.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <atomic>

using namespace tutti;
using namespace tutti::test;

namespace {

struct Found {
    std::int64_t flow = 0;
    std::int64_t timed = 0;  ///< or flow, if that is no better
};

/// Both bounds, the second from the first; every certificate must pass.
Found bounds_of(const Instance& instance, const models::Backend& backend) {
    Found found;
    if (const auto flow = models::flow_bound(instance, backend, {}).bound) {
        CHECK(flow->kind == "flow");
        CHECK(verify::check_certificate(instance, *flow).value_or("") == "");
        found.flow = flow->value.count();
    }
    found.timed = found.flow;
    if (const auto timed = models::time_expanded_bound(instance, backend, Ticks(found.flow), {}).bound) {
        CHECK(timed->kind == "time-expanded");
        CHECK(timed->value.count() > found.flow);
        CHECK(verify::check_certificate(instance, *timed).value_or("") == "");
        found.timed = timed->value.count();
    }
    return found;
}

Collective many(CollectiveKind kind, std::uint64_t chunks) {
    Collective result = collective(kind);
    result.chunks = chunks;
    return result;
}

/// Links of the graph copied once per tick and source: how large the time-expanded program gets.
std::size_t size_of(const ProvenOptimum& proven) {
    const Topology& topology = proven.instance.topology();
    return topology.npus() * topology.links().size() * static_cast<std::size_t>(proven.optimum.count());
}

}  // namespace

TEST_CASE("flow: the middle of a line is the bottleneck of an all-to-all") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    CHECK(bounds_of(on_all(line(4), {collective(CollectiveKind::AllToAll)}), *backend).flow == 4);
    // 9 chunks over the middle link of a line of 6; none is there before tick 0, and each can end there.
    CHECK(bounds_of(on_all(line(6), {collective(CollectiveKind::AllToAll)}), *backend).flow == 9);
}

TEST_CASE("flow: a slow link that no chunk needs does not raise the bound") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    Net net = line(3);
    net.link(0, 2, 1000, 50);
    const Found found = bounds_of(on_all(net, {collective(CollectiveKind::AllToAll)}), *backend);
    CHECK(found.flow == 2);
    CHECK(found.timed == 2);
}

TEST_CASE("time-expanded: chunks queue for a link, one every busy ticks") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    CHECK(bounds_of(on_all(line(2, 1, 2), {many(CollectiveKind::Broadcast, 3)}), *backend).timed == 7);
    CHECK(bounds_of(on_all(line(2, 1, 2).one_in_flight(), {many(CollectiveKind::Broadcast, 3)}), *backend)
              .timed == 9);
}

TEST_CASE("time-expanded: a release, a reduction and a switch each count") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    Collective late = many(CollectiveKind::Broadcast, 3);
    late.release = Ticks(10);
    CHECK(bounds_of(on_all(line(2, 1, 2), {late}), *backend).timed == 17);
    // The sums of 2 chunks, 0 -> 1 -> 2: NPU 0's contributions leave at 0 and 1, and arrive at 2 and 3.
    Collective sum = many(CollectiveKind::Reduce, 2);
    sum.root = Rank(2);
    CHECK(bounds_of(on_all(line(3), {sum}), *backend).timed == 3);
    const SwitchRule stores{}, crossbar{.cut_through = true};
    CHECK(bounds_of(on_all(star(2, stores, 1, 5), {collective(CollectiveKind::AllToAll)}), *backend).timed ==
          12);
    CHECK(
        bounds_of(on_all(star(2, crossbar, 1, 5), {collective(CollectiveKind::AllToAll)}), *backend).timed ==
        7);
}

TEST_CASE("time-expanded: a million times the ticks, a million times the bound") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    constexpr std::int64_t kMillion = 1'000'000;
    // tests/data/oracle has this ring: the optimum is 14, of which the flow alone proves 13.
    const auto ring = [](std::int64_t unit) {
        Net net(6);
        for (std::size_t i = 0; i < 6; ++i) net.both(i, (i + 1) % 6, unit, 2 * unit);
        return on_all(net, {many(CollectiveKind::Broadcast, 6)});
    };
    const Found small = bounds_of(ring(1), *backend), large = bounds_of(ring(kMillion), *backend);
    CHECK(small.timed > small.flow);
    CHECK(small.timed == 14);
    CHECK(large.timed == kMillion * small.timed);
}

TEST_CASE("time-expanded: starts from what is known, and finds nothing beyond the optimum") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    const Instance instance = on_all(line(2, 1, 2), {many(CollectiveKind::Broadcast, 3)});
    CHECK(models::time_expanded_bound(instance, *backend, Ticks(6), {}).bound->value == Ticks(7));
    CHECK_FALSE(models::time_expanded_bound(instance, *backend, Ticks(7), {}).bound);
    CHECK_FALSE(models::time_expanded_bound(instance, *backend, Ticks(100), {}).bound);
}

TEST_CASE("a relaxation that is stopped, too large or empty gives no bound") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    const std::atomic<bool> raised{true};
    models::RelaxationLimits stopped;
    stopped.solve.stop = Stop({}, &raised);
    const Instance instance = on_all(line(4), {collective(CollectiveKind::AllToAll)});
    CHECK_FALSE(models::flow_bound(instance, *backend, stopped).bound);
    CHECK_FALSE(models::time_expanded_bound(instance, *backend, Ticks(3), stopped).bound);
    const Instance large = on_all(line(700), {collective(CollectiveKind::AllToAll)});
    for (const models::Relaxed& relaxed :
         {models::flow_bound(large, *backend, {}),
          models::time_expanded_bound(large, *backend, Ticks(100'000), {}),
          models::flow_bound(instance, *backend, {.entries = 20}),
          models::time_expanded_bound(instance, *backend, Ticks(3), {.all_entries = 20})}) {
        CHECK_FALSE(relaxed.bound);
        CHECK(relaxed.too_large);
    }
    const Instance idle = on_all(line(2), {custom({0}, {0})});
    CHECK_FALSE(models::flow_bound(idle, *backend, {}).bound);
    CHECK_FALSE(models::time_expanded_bound(idle, *backend, Ticks(0), {}).bound);
}

TEST_CASE("the relaxations meet the proven optima and never pass them") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    std::size_t asked = 0;
    for (const ProvenOptimum& proven : proven_optima()) {
        if (size_of(proven) > 4000) continue;  // the larger ones take up to a minute
        ++asked;
        INFO(proven.instance.name());
        CHECK(bounds_of(proven.instance, *backend).timed == proven.optimum.count());
    }
    CHECK(asked > 60);
}

TEST_CASE("weights that refute one horizon do not refute one that is possible") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    std::size_t asked = 0;
    for (const ProvenOptimum& proven : proven_optima()) {
        if (size_of(proven) > 1500) continue;
        auto bound = models::time_expanded_bound(proven.instance, *backend, Ticks(0), {}).bound;
        if (!bound || bound->value != proven.optimum) continue;
        ++asked;
        INFO(proven.instance.name());
        bound->value += Ticks(1);
        CHECK(verify::check_certificate(proven.instance, *bound));
        std::get<TimedLengthsCertificate>(bound->certificate).horizon += Ticks(1);
        CHECK(verify::check_certificate(proven.instance, *bound));
    }
    CHECK(asked > 20);
}

TEST_CASE("no relaxation is above a schedule that exists") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    std::size_t tight = 0;
    for_seeds(cases(60), [&](Rng& rng, std::uint64_t) {
        const Instance instance(
            random_instance(rng, {.max_npus = 5, .max_collectives = 2, .max_ticks = 4, .physical = false}));
        if (!is_feasible(instance)) return;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        REQUIRE(verify::verify(instance, *schedule).valid());
        INFO(json_of(instance));
        const Found found = bounds_of(instance, *backend);
        CHECK(found.timed <= schedule->makespan.count());
        if (found.timed == schedule->makespan.count()) ++tight;
    });
    CHECK(tight > cases(60) / 3);
}
