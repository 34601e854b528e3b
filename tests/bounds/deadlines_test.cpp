#include "bounds/families.hpp"
#include "core/rng.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

namespace tutti::test {
namespace {

Bound deadlines_of(const Instance& instance) {
    const bounds::Traffic traffic(instance);
    return bounds::deadlines(traffic, {}).value();
}

bool proves(const Instance& instance, const Certificate& certificate, std::int64_t value) {
    return !verify::check_certificate(instance, {"deadlines", Ticks(value), certificate, 0});
}

void check_tight(const Instance& instance, std::int64_t expected) {
    const Bound bound = deadlines_of(instance);
    CHECK(bound.value == Ticks(expected));
    CHECK(proves(instance, bound.certificate, expected));
    CHECK_FALSE(proves(instance, bound.certificate, expected + 1));
}

/// Leaves of two NPUs, pairs of leaves with two switches above, and above all of them one switch for each of
/// these: eight NPUs 4, 8 or 12 ticks apart.
Net binary_tree(SwitchRule rule = {}) {
    Net net(8);
    std::vector<std::size_t> leaves, middles;
    for (std::size_t i = 0; i < 4; ++i) leaves.push_back(net.add_switch(rule));
    for (std::size_t i = 0; i < 4; ++i) middles.push_back(net.add_switch(rule));
    for (std::size_t i = 0; i < 8; ++i) net.both(i, leaves[i / 2], 1, 1);
    for (std::size_t i = 0; i < 4; ++i) {
        net.both(leaves[i], middles[i / 2 * 2], 1, 1);
        net.both(leaves[i], middles[i / 2 * 2 + 1], 1, 1);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t top = net.add_switch(rule);
        net.both(middles[i % 2], top, 1, 1);
        net.both(middles[2 + i % 2], top, 1, 1);
    }
    return net;
}

TEST_CASE("what cannot start early must arrive late, each alone") {
    // By 15 the four far messages of an NPU start at 0, 1, 2, 3, the two middle ones at 4 ... 7, the near one
    // by 11. Of the last 4 ticks four are needed for the far ones, and two for the middle ones.
    for (const CollectiveKind kind : {CollectiveKind::ReduceScatter, CollectiveKind::AllGather})
        check_tight(on_all(binary_tree(), {collective(kind)}), 16);
}

TEST_CASE("deadlines prove nothing where switches merge or messages may meet at once") {
    SwitchRule adds, copies;
    adds.reduce = true;
    copies.copy = true;
    CHECK(deadlines_of(on_all(binary_tree(adds), {collective(CollectiveKind::ReduceScatter)})).value ==
          Ticks(0));
    CHECK(deadlines_of(on_all(binary_tree(copies), {collective(CollectiveKind::AllGather)})).value ==
          Ticks(0));
    CHECK(deadlines_of(on_all(binary_tree(), {collective(CollectiveKind::AllReduce)})).value == Ticks(0));
    const Instance instance = on_all(binary_tree(), {collective(CollectiveKind::ReduceScatter)});
    CHECK_FALSE(proves(instance, DeadlinesCertificate{false, Ticks(5), Bytes{}}, 1));  // a detour takes 4
    CHECK_FALSE(proves(instance, DeadlinesCertificate{false, Ticks(0), Bytes{}}, 1));
    CHECK_FALSE(
        proves(instance, DeadlinesCertificate{true, Ticks(4), Bytes{}}, 1));  // nothing is held by one
}

TEST_CASE("deadlines are never above a schedule, and the check agrees to the tick") {
    std::size_t positive = 0;
    const auto check = [&](const InstanceParts& parts) {
        const Instance instance(parts);
        if (!is_feasible(instance)) return;
        const Bound bound = deadlines_of(instance);
        if (bound.value == Ticks(0)) return;
        ++positive;
        CHECK(proves(instance, bound.certificate, bound.value.count()));
        CHECK_FALSE(proves(instance, bound.certificate, bound.value.count() + 1));
        const auto schedule = heuristics::greedy(instance, {});
        REQUIRE(schedule);
        CHECK(bound.value <= schedule->makespan);
    };
    for (std::uint64_t seed = 0; seed < 250; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        check(random_instance(rng));
        check(random_cluster(rng));
    }
    CHECK(positive > 100);
}

}  // namespace
}  // namespace tutti::test
