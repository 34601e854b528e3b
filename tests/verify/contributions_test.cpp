// V13, V14, V16: a reduction counts each contribution once.

#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

using Codes = std::set<std::string>;

/// Links 0: 0->1, 1: 1->0, 2: 1->2, 3: 2->1. NPU 0 must end with the sum of all three.
Instance sum_at_0() { return on_all(line(3), {collective(CollectiveKind::Reduce)}); }

/// 0 and 1 have links to 2 of equal speed; 2 has links back.
Net vee() { return Net(3).link(0, 2).link(1, 2).link(2, 0).link(2, 1); }

}  // namespace

TEST_CASE("contributions are added up at relays") {
    CHECK(broken(sum_at_0(), schedule(2, {reduce(0, 3, 0), reduce(0, 1, 1)})) == Codes{});
}

TEST_CASE("V16: the receiver of a reduction needs every contribution") {
    CHECK(broken(sum_at_0(), schedule(1, {reduce(0, 1, 0)})) == Codes{"demand_wrong"});
    CHECK(broken(sum_at_0(), schedule(0, {})) == Codes{"demand_wrong"});
}

TEST_CASE("V16: a send reads its value when it starts, so what comes later is not in it") {
    CHECK(broken(sum_at_0(), schedule(1, {reduce(0, 3, 0), reduce(0, 1, 0)})) == Codes{"demand_wrong"});
}

TEST_CASE("V16: a copy replaces what the receiver had, its own contribution included") {
    CHECK(broken(sum_at_0(), schedule(2, {reduce(0, 3, 0), copy(0, 1, 1)})) == Codes{"demand_wrong"});
}

TEST_CASE("V16: a copy of the complete sum is as good as the sum") {
    const Instance instance = on_all(line(2), {collective(CollectiveKind::AllReduce)});
    const Schedule plan = schedule(2, {reduce(0, 1, 0), copy(0, 0, 1), reduce(1, 0, 0), copy(1, 1, 1)});
    CHECK(broken(instance, plan) == Codes{});
}

TEST_CASE("V16: a complete value can be lost again") {
    const Instance instance = on_all(line(2), {custom({0, 1}, {0}, true)});
    CHECK(broken(instance, schedule(2, {reduce(0, 1, 0), copy(0, 1, 1)})) == Codes{"demand_wrong"});
}

TEST_CASE("V15: a receiver of a reduction that never gets a value has none, which is not a wrong one") {
    const Instance instance = on_all(line(3), {custom({0, 1}, {2}, true)});
    CHECK(broken(instance, schedule(1, {reduce(0, 0, 0)})) == Codes{"demand_unmet"});
    CHECK(broken(instance, schedule(1, {reduce(0, 2, 0)})) == Codes{"demand_wrong"});
}

TEST_CASE("V13: no contribution may be counted twice") {
    CHECK(broken(sum_at_0(), schedule(3, {reduce(0, 1, 0), reduce(0, 3, 0), reduce(0, 1, 2)})) ==
          Codes{"double_count"});
}

TEST_CASE("V13: a contribution that returns to its owner is counted twice") {
    CHECK(broken(sum_at_0(), schedule(3, {reduce(0, 0, 0), reduce(0, 3, 0), reduce(0, 1, 2)})) ==
          Codes{"double_count"});
}

TEST_CASE("V13: adding to nothing is allowed") {
    const Instance instance = on_all(line(3), {custom({0, 2}, {1}, true)});
    CHECK(broken(instance, schedule(1, {reduce(0, 0, 0), reduce(0, 3, 0)})) == Codes{});
    CHECK(broken(on_all(line(2), {custom({0}, {1})}), schedule(1, {reduce(0, 0, 0)})) == Codes{});
}

TEST_CASE("V13: a plain chunk added to itself is counted twice") {
    const Instance instance = on_all(line(2), {custom({0}, {1})});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(0, 0, 1)})) == Codes{});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), reduce(0, 0, 1)})) == Codes{"double_count"});
}

TEST_CASE("V13: two that meet at one tick may not share a contribution") {
    // 2's contribution goes to both others, then both send their sums back.
    const Instance instance = on_all(vee(), {custom({0, 1, 2}, {2}, true)});
    CHECK(broken(instance, schedule(2, {reduce(0, 2, 0), reduce(0, 0, 1), reduce(0, 1, 0)})) ==
          Codes{"double_count"});
    const Instance apart = on_all(vee(), {custom({0, 1}, {2}, true)});
    CHECK(broken(apart, schedule(1, {reduce(0, 0, 0), reduce(0, 1, 0)})) == Codes{});
}

TEST_CASE("V13: after a double count the value is the union") {
    const Instance instance = on_all(vee(), {custom({0, 1, 2}, {0}, true)});
    // 2 gets {0}, then {1}; 0 adds {0, 1, 2} to its {0}.
    CHECK(broken(instance, schedule(2, {reduce(0, 0, 0), reduce(0, 1, 0), reduce(0, 2, 1)})) ==
          Codes{"double_count"});
}

TEST_CASE("V14: a copy and a reduce must not reach one NPU at one tick") {
    const Instance instance = on_all(vee(), {custom({0, 1}, {2}, true)});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), reduce(0, 1, 0)})) == Codes{"arrival_race"});
    // In a race the arrivals act in order of link number: here the copy undoes the reduce.
    CHECK(broken(instance, schedule(1, {reduce(0, 0, 0), copy(0, 1, 0)})) ==
          Codes{"arrival_race", "demand_wrong"});
}

TEST_CASE("V14: one tick apart there is no race") {
    const Instance instance = on_all(vee(), {custom({0, 1}, {2}, true)});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), reduce(0, 1, 1)})) == Codes{});
}

TEST_CASE("V14: two copies of different values race") {
    const Instance instance = on_all(vee(), {custom({0, 1}, {2}, true)});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), copy(0, 1, 0)})) ==
          Codes{"arrival_race", "demand_wrong"});
}

TEST_CASE("V14: copies of equal values are no race") {
    // NPU 2 has the sum and gives it to 0 and 1, which both hand it to 3 at once.
    const Net net = Net(4).link(0, 2).link(1, 2).link(2, 0).link(2, 1).link(0, 3).link(1, 3);
    const Instance instance = on_all(net, {custom({0, 1}, {3}, true)});
    const Schedule plan = schedule(
        3, {reduce(0, 0, 0), reduce(0, 1, 0), copy(0, 2, 1), copy(0, 3, 1), copy(0, 4, 2), copy(0, 5, 2)});
    CHECK(broken(instance, plan) == Codes{});
}

TEST_CASE("V14: a plain chunk cannot race") {
    const Instance instance = on_all(vee(), {custom({0, 1}, {2})});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), copy(0, 1, 0)})) == Codes{});
}

TEST_CASE("V14: different chunks cannot race") {
    Collective sums = custom({0, 1}, {2}, true);
    sums.demands.push_back(sums.demands.front());
    const Instance instance = on_all(vee(), {sums});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(1, 1, 0), reduce(0, 1, 1), reduce(1, 0, 1)})) ==
          Codes{});
}

TEST_CASE("V14: what brings nothing does not race") {
    const Net net = Net(4).link(0, 2).link(1, 2).link(3, 2);
    const Instance instance = on_all(net, {custom({0, 1}, {2}, true)});
    CHECK(broken(instance, schedule(1, {reduce(0, 0, 0), reduce(0, 1, 0), copy(0, 2, 0)})) ==
          Codes{"not_held"});
}
