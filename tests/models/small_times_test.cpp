// Bounds through time in small times: by hand, on a network whose own times are too long, and never above a
// schedule. Each certificate goes through the checker, which knows nothing of how it was found.

#include "models/relaxation.hpp"

#include "core/generators/dgx.hpp"
#include "heuristics/greedy.hpp"
#include "models/backends/registry.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/solvers.hpp"
#include "verify/certificate.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;

namespace {

bool proves(const Instance& instance, const SmallTimesCertificate& small, std::int64_t value) {
    return !verify::check_certificate(instance, {"time-expanded", Ticks(value), small, 0});
}

/// Three chunks over one link of alpha 10, beta 1000: 3 beta + alpha. In small times alpha 1, beta 3.
Instance three_chunks(std::int64_t alpha = 10, std::int64_t beta = 1000) {
    Collective wanted = collective(CollectiveKind::Broadcast);
    wanted.chunks = 3;
    return on_all(line(2, alpha, beta), {wanted});
}

SmallTimesCertificate by_hand() {
    SmallTimesCertificate small;
    small.times = {{Ticks(10), Ticks(1000), Ticks(1), Ticks(3)}};
    small.timed.horizon = Ticks(9);
    small.timed.weights = {{LinkId(0), Ticks(0), 1}, {LinkId(0), Ticks(3), 1}};
    return small;
}

}  // namespace

TEST_CASE("small times: what is longer than nine small ticks takes three betas and a latency") {
    CHECK(proves(three_chunks(), by_hand(), 3010));
    CHECK_FALSE(proves(three_chunks(), by_hand(), 3011));
    CHECK_FALSE(proves(three_chunks(11), by_hand(), 1));  // links that the times do not name
    SmallTimesCertificate other = by_hand();
    other.timed.horizon = Ticks(10);  // by ten small ticks they are there
    CHECK_FALSE(proves(three_chunks(), other, 1));
    other = by_hand();
    other.times[0].small_beta = Ticks(0);
    CHECK_FALSE(proves(three_chunks(), other, 1));
    other.times[0].small_beta = Ticks(std::int64_t{1} << 40);
    CHECK_FALSE(proves(three_chunks(), other, 1));
    other = by_hand();
    other.times[0].small_alpha = Ticks(-1);
    CHECK_FALSE(proves(three_chunks(), other, 1));
    other = by_hand();
    other.timed.horizon = Ticks(-1);
    CHECK_FALSE(proves(three_chunks(), other, 1));
}

TEST_CASE("small times: latencies that count for too much prove less, not more") {
    // alpha 3, beta 3: nine small ticks are nothing, but what is longer may be two transits.
    SmallTimesCertificate small = by_hand();
    small.times[0].small_alpha = Ticks(3);
    small.timed.horizon = Ticks(11);
    CHECK(proves(three_chunks(), small, 2020));
    CHECK_FALSE(proves(three_chunks(), small, 2021));
}

TEST_CASE("small times: chains go from link to link, and do not turn round where switches only store") {
    // NPU 0 - switch - switch - NPU 1, seven chunks from 0 to 1. The fast link between the switches has a
    // small latency that counts for more than it takes.
    const auto bound = [](const SwitchRule& rule, std::int64_t value) {
        Net net(2);
        const std::size_t left = net.add_switch(rule), right = net.add_switch(rule);
        net.both(0, left, 10, 1000).both(left, right, 10, 500).both(right, 1, 10, 1000);
        Collective wanted = collective(CollectiveKind::Broadcast);
        wanted.chunks = 7;
        SmallTimesCertificate small;
        small.times = {{Ticks(10), Ticks(1000), Ticks(0), Ticks(20)},
                       {Ticks(10), Ticks(500), Ticks(2), Ticks(10)}};
        // The last of seven starts at 120 or later, and takes 20 + 12 + 20 small ticks.
        small.timed.horizon = Ticks(171);
        for (std::int64_t w = 0; w <= 100; w += 20) small.timed.weights.push_back({LinkId(0), Ticks(w), 1});
        return proves(on_all(net, {wanted}), small, value);
    };
    // 172 small ticks are 16 * 10 + 12, on the fast link: 16 * 500 + 510. To cross it twice takes two slow
    // links in between.
    CHECK(bound({}, 8510));
    CHECK_FALSE(bound({}, 8511));
    // To and fro between the switches: 11 * 12 + 4 * 10, which is 11 * 510 + 4 * 500.
    for (const SwitchRule& rule : {SwitchRule{.copy = true}, SwitchRule{.buffer = 3}}) {
        CHECK(bound(rule, 7610));
        CHECK_FALSE(bound(rule, 7611));
    }
    // To add is of no use where nothing is a sum.
    CHECK(bound({.reduce = true}, 8510));
    CHECK_FALSE(bound({.reduce = true}, 8511));
}

TEST_CASE("small times prove nothing where starts are exact, sizes differ or something is released later") {
    Collective late = collective(CollectiveKind::Broadcast);
    late.chunks = 3;
    late.release = Ticks(1);
    CHECK_FALSE(proves(on_all(line(2, 10, 1000), {late}), by_hand(), 1));
    const Instance crossbar =
        on_all(star(2, {.cut_through = true}, 10, 1000), {collective(CollectiveKind::AllToAll)});
    CHECK_FALSE(proves(crossbar, by_hand(), 1));
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    CHECK_FALSE(models::small_times_bound(crossbar, *backend, Ticks(0), {}).bound);
    CHECK_FALSE(models::small_times_bound(on_all(line(2, 10, 1000), {late}), *backend, Ticks(0), {}).bound);
}

TEST_CASE("small times: an all-reduce on a DGX-1 takes four betas, as far as linear programs can see") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    InstanceParts parts;
    parts.name = "dgx1";
    const std::int64_t alpha = 700'000, beta = 41'943'040;
    parts.topology = generators::dgx1({Ticks(alpha), Ticks(beta), {}});
    parts.groups = {{"all", nodes({0, 1, 2, 3, 4, 5, 6, 7})}};
    parts.collectives = {collective(CollectiveKind::AllReduce)};
    const Instance instance(std::move(parts));
    const Ticks ports(3 * beta + 3 * alpha);
    models::RelaxationLimits few;
    few.entries = 12'000;
    CHECK_FALSE(models::time_expanded_bound(instance, *backend, ports, few).bound);
    const auto bound = models::small_times_bound(instance, *backend, ports, few).bound;
    REQUIRE(bound);
    CHECK(verify::check_certificate(instance, *bound).value_or("") == "");
    CHECK(bound->value >= Ticks(4 * beta));
    CHECK(bound->value <= Ticks(4 * beta + 3 * alpha));  // a schedule of `folded-exchange`
}

TEST_CASE("no bound in small times is above a schedule, and the check agrees to the tick") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    std::size_t found = 0;
    for_seeds(cases(60), [&](Rng& rng, std::uint64_t) {
        InstanceParts parts = random_instance(
            rng, {.max_npus = 5, .max_collectives = 1, .max_ticks = 3, .releases = false, .physical = false});
        // Latencies that are small beside betas, or the other way round.
        for (Link& link : parts.topology.links) link.wire = {link.wire.alpha * 17, link.wire.beta * 100, {}};
        const Instance instance(std::move(parts));
        if (!is_feasible(instance)) return;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        INFO(json_of(instance));
        const auto bound = models::small_times_bound(instance, *backend, Ticks(1), {}).bound;
        if (!bound) return;
        ++found;
        CHECK(bound->value <= schedule->makespan);
        CHECK(verify::check_certificate(instance, *bound).value_or("") == "");
        CHECK(verify::check_certificate(instance,
                                        {bound->kind, bound->value + Ticks(1), bound->certificate, 0}));
    });
    CHECK(found > cases(60) / 5);
}

TEST_CASE("no certificate of small times proves more than a schedule that exists, however they are chosen") {
    std::size_t positive = 0;
    for_seeds(cases(600), [&](Rng& rng, std::uint64_t) {
        InstanceParts parts = random_instance(
            rng, {.max_npus = 5, .max_collectives = 2, .max_ticks = 3, .releases = false, .physical = false});
        // Where switches only store, chains do not turn round.
        if (rng.below(2) == 0) std::ranges::fill(parts.topology.switches, SwitchRule{});
        const Instance instance(std::move(parts));
        if (!is_feasible(instance) || instance.chunks() == 0) return;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        SmallTimesCertificate small;
        const auto some = [&](std::uint64_t first, std::uint64_t count) {
            return Ticks(static_cast<std::int64_t>(first + rng.below(count)));
        };
        small.timed.horizon = some(0, 12);
        for (std::size_t l = 0; l < instance.topology().links().size(); ++l) {
            const Ticks alpha = instance.alpha(LinkId(l)), beta = instance.beta(LinkId(l), ChunkId(0));
            auto times = std::ranges::find_if(
                small.times, [&](const auto& each) { return each.alpha == alpha && each.beta == beta; });
            if (times == small.times.end())
                times = small.times.insert(times, {alpha, beta, some(0, 4), some(1, 4)});
            const auto weight = static_cast<std::int64_t>(rng.below(3));
            for (Ticks w = some(0, 2); w <= small.timed.horizon && weight > 0; w += times->small_beta)
                small.timed.weights.push_back({LinkId(l), w, weight});
        }
        small.timed.messages = rng.below(2) == 0;
        INFO(json_of(instance), " makespan ", schedule->makespan.count());
        CHECK_FALSE(proves(instance, small, schedule->makespan.count() + 1));
        positive += proves(instance, small, 1) ? 1U : 0U;
    });
    CHECK(positive > cases(600) / 10);
}
