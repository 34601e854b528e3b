#include "heuristics/levels/message_orders.hpp"

#include "core/generators/fat_tree.hpp"
#include "heuristics/levels/two_levels.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

/// Four leaves of four NPUs; links to the spine have half the bandwidth. Latencies 5 and 10, betas 50 and
/// 100.
Instance oversubscribed(CollectiveKind kind) {
    InstanceParts parts;
    parts.name = "test";
    const std::array wires{Wire{Ticks(5), Ticks(50), {}}, Wire{Ticks(10), Ticks(100), {}}};
    parts.topology = generators::fat_tree(4, 2, wires, {});
    std::vector<std::size_t> members(parts.topology.npus);
    for (std::size_t n = 0; n < members.size(); ++n) members[n] = n;
    parts.groups = {{"g", nodes(members)}};
    parts.collectives = {collective(kind)};
    return Instance(std::move(parts));
}

}  // namespace

TEST_CASE("orders of messages are valid on random clusters, and never longer than the plans") {
    std::uint64_t made = 0, shorter = 0;
    for_seeds(cases(250), [&](Rng& rng, std::uint64_t seed) {
        const Instance instance(random_cluster(rng));
        if (!is_feasible(instance) || !why_no_message_orders(instance).empty()) return;
        MessageOrders orders(instance, seed, {});
        orders.improve(Ticks(0), 20'000, {});
        const auto schedule = orders.schedule();
        if (!schedule) return;
        ++made;
        CHECK(broken(instance, *schedule).empty());
        for (const auto& plan : {two_levels(instance, {}), crossbar_rounds(instance, {})}) {
            if (plan && schedule->makespan < plan->makespan) ++shorter;
        }
    });
    CHECK(made > 20);
    CHECK(shorter > 0);
}

TEST_CASE("rounds within leaves fill the time that slow spines leave") {
    // The first chunk from another leaf arrives at 6 * 50 + 30, the last of four waves 4 * 50 later; an NPU
    // gets 12 of them, one at the first tick, none in the next 50, and one each 50 from then on: 18 * 50
    // + 30.
    for (const auto kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
        const Instance instance = oversubscribed(kind);
        const auto schedule = two_levels(instance, {});
        REQUIRE(schedule);
        CHECK(broken(instance, *schedule).empty());
        CHECK(schedule->makespan == Ticks(930));
    }
}

TEST_CASE("the search on orders stops at its target, and gives the same schedule for the same seed") {
    const Instance instance = oversubscribed(CollectiveKind::AllGather);
    std::array<std::optional<Schedule>, 2> found;
    for (auto& schedule : found) {
        MessageOrders orders(instance, 7, {});
        orders.improve(Ticks(930), 1'000'000, {});
        schedule = orders.schedule();
        REQUIRE(schedule);
        CHECK(schedule->makespan == Ticks(930));
    }
    CHECK(found[0]->sends == found[1]->sends);
}

TEST_CASE("orders of messages need one direction") {
    CHECK(why_no_message_orders(oversubscribed(CollectiveKind::AllReduce)) == "a sum has several receivers");
    CHECK(!message_orders(oversubscribed(CollectiveKind::AllReduce), {}));
}
