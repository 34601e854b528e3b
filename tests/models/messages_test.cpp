// Messages through time (certificates with `messages`): by hand, on a DGX-2, and never above a schedule. Each
// certificate goes through the checker, which knows nothing of how it was found.

#include "models/relaxation.hpp"
#include "models/relaxation/time_expanded.hpp"

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

#include <array>

using namespace tutti;
using namespace tutti::test;

namespace {

/// The bound by messages alone, whose certificate must pass, and prove no tick more.
std::int64_t by_messages(const Instance& instance, const models::Backend& backend) {
    const auto bound = models::messages_bound(instance, backend, Ticks(1), {}).bound;
    if (!bound) return 0;
    CHECK(std::get<TimedLengthsCertificate>(bound->certificate).messages);
    CHECK(verify::check_certificate(instance, *bound).value_or("") == "");
    CHECK(verify::check_certificate(instance, {bound->kind, bound->value + Ticks(1), bound->certificate, 0}));
    return bound->value.count();
}

Instance on_star(CollectiveKind kind, std::uint32_t npus, std::int64_t alpha, std::int64_t beta) {
    Collective wanted = collective(kind);
    if (kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce) wanted.root = Rank(0);
    return on_all(star(npus, {}, alpha, beta), {wanted});
}

}  // namespace

TEST_CASE("messages: what one NPU alone sends takes its turns") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    // Both messages leave the root, over one link. Four ticks each, one of them a tick later.
    CHECK(by_messages(on_star(CollectiveKind::Broadcast, 3, 1, 1), *backend) == 5);
    CHECK(by_messages(on_star(CollectiveKind::Reduce, 3, 1, 1), *backend) == 5);
    // Four that start at 0, 1, 2, 3, or at a receiver when four ticks are over.
    CHECK(by_messages(on_star(CollectiveKind::Broadcast, 5, 1, 1), *backend) == 7);
    // Long latencies: 8 ticks a message, so of seven the last starts at 6.
    CHECK(by_messages(on_star(CollectiveKind::Broadcast, 8, 3, 1), *backend) == 14);
    CHECK(by_messages(on_star(CollectiveKind::AllGather, 8, 3, 1), *backend) == 14);
    CHECK(by_messages(on_star(CollectiveKind::ReduceScatter, 8, 3, 1), *backend) == 14);
}

TEST_CASE("messages: nobody pays for more than one way to one receiver, or through switches that copy") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    for (const CollectiveKind kind : {CollectiveKind::AllToAll, CollectiveKind::AllReduce}) {
        const models::Relaxed none = models::messages_bound(on_star(kind, 4, 1, 1), *backend, Ticks(1), {});
        CHECK_FALSE(none.bound);
        CHECK_FALSE(none.too_large);
    }
    const std::array<SwitchRule, 2> rules{{{.copy = true}, {.cut_through = true}}};
    for (const SwitchRule& rule : rules) {
        const Instance gather = on_all(star(4, rule, 1, 1), {collective(CollectiveKind::AllGather)});
        CHECK_FALSE(models::messages_bound(gather, *backend, Ticks(1), {}).bound);
    }
    models::RelaxationLimits few;
    few.entries = 30;
    CHECK(models::messages_bound(on_star(CollectiveKind::AllGather, 4, 1, 1), *backend, Ticks(1), few)
              .too_large);
}

TEST_CASE("messages: an all-gather on a DGX-2 takes four betas, one between the boards and three latencies") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    const std::int64_t alpha = 400'000, beta = 41'943'040;
    for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
        InstanceParts parts;
        parts.name = "dgx2";
        parts.topology = generators::dgx2({Ticks(alpha), Ticks(beta), {}}, generators::Bonding::Bonded);
        std::vector<NodeId> all;
        for (std::size_t n = 0; n < 16; ++n) all.emplace_back(n);
        parts.groups = {{"all", all}};
        parts.collectives = {collective(kind)};
        const Instance instance(std::move(parts));
        const Ticks ports(4 * beta + 2 * alpha);
        models::RelaxationLimits few;
        few.entries = 12'000;
        const auto bound = models::small_times_bound(instance, *backend, ports, few).bound;
        REQUIRE(bound);
        CHECK(verify::check_certificate(instance, *bound).value_or("") == "");
        // There is such a schedule. Sums may turn round at switches, for all that is known, so less is
        // proven.
        if (kind == CollectiveKind::AllGather) CHECK(bound->value == Ticks(4 * beta + beta / 8 + 3 * alpha));
        CHECK(bound->value >= Ticks(4 * beta + beta / 8));
        CHECK(bound->value <= Ticks(4 * beta + beta / 8 + 3 * alpha));
        CHECK(std::get<SmallTimesCertificate>(bound->certificate).timed.messages);
    }
}

TEST_CASE("messages are never above a schedule, and the check agrees to the tick") {
    const models::Backend* backend = linear_backend();
    if (backend == nullptr) return;
    std::size_t found = 0, tight = 0;
    for_seeds(cases(60), [&](Rng& rng, std::uint64_t) {
        InstanceParts parts =
            random_instance(rng, {.max_npus = 6, .max_collectives = 2, .max_ticks = 4, .physical = false});
        // Most random switches copy, add or cut through; here most only store.
        for (SwitchRule& rule : parts.topology.switches) {
            if (rng.below(4) != 0) rule = {};
        }
        for (Collective& each : parts.collectives) each.chunk_bytes = parts.collectives.front().chunk_bytes;
        const Instance instance(std::move(parts));
        if (!is_feasible(instance)) return;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        REQUIRE(verify::verify(instance, *schedule).valid());
        INFO(json_of(instance));
        const std::int64_t bound = by_messages(instance, *backend);
        CHECK(bound <= schedule->makespan.count());
        found += bound > 0 ? 1U : 0U;
        tight += bound == schedule->makespan.count() ? 1U : 0U;
    });
    CHECK(found > cases(60) / 5);
    CHECK(tight > cases(60) / 15);
}
