// V6, V7, V8, V15: who holds a chunk when, who may carry it, and who must end with it.

#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

using Codes = std::set<std::string>;

Instance broadcast_on(const Net& net) { return on_all(net, {collective(CollectiveKind::Broadcast)}); }

}  // namespace

TEST_CASE("V6: what arrives at a tick can be sent at that tick") {
    CHECK(broken(broadcast_on(line(3, 1, 2)), schedule(6, {copy(0, 0, 0), copy(0, 2, 3)})) == Codes{});
}

TEST_CASE("V6: a chunk cannot be sent before it arrives") {
    CHECK(broken(broadcast_on(line(3, 1, 2)), schedule(5, {copy(0, 0, 0), copy(0, 2, 2)})) ==
          Codes{"not_held", "demand_unmet"});
}

TEST_CASE("V6: a chunk cannot be sent by one who never gets it") {
    const Instance instance = on_all(line(3), {custom({0}, {1})});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), copy(0, 3, 0)})) == Codes{"not_held"});
}

TEST_CASE("V6: a send of nothing keeps its link busy") {
    Collective both = custom({0}, {1});
    both.demands.push_back({nodes({2}), nodes({1}), false, {}});
    const Instance instance = on_all(line(3, 0, 4), {both});
    // Link 3 goes from 2 to 1. NPU 2 never holds chunk 0.
    CHECK(broken(instance, schedule(7, {copy(0, 0, 0), copy(0, 3, 0), copy(1, 3, 3)})) ==
          Codes{"not_held", "link_overlap"});
}

TEST_CASE("V6: holders of one chunk can all send it") {
    const Instance instance = on_all(line(4), {custom({0, 3}, {1, 2})});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), copy(0, 5, 0)})) == Codes{});
}

TEST_CASE("V7: a holder cannot send before the release") {
    Collective broadcast = collective(CollectiveKind::Broadcast);
    broadcast.release = Ticks(5);
    const Instance instance = on_all(line(2), {broadcast});
    CHECK(broken(instance, schedule(6, {copy(0, 0, 5)})) == Codes{});
    CHECK(broken(instance, schedule(5, {copy(0, 0, 4)})) == Codes{"before_release", "demand_unmet"});
}

TEST_CASE("V7: a send before the release brings nothing to those behind it") {
    Collective broadcast = collective(CollectiveKind::Broadcast);
    broadcast.release = Ticks(5);
    CHECK(broken(on_all(line(3), {broadcast}), schedule(6, {copy(0, 0, 4), copy(0, 2, 5)})) ==
          Codes{"before_release", "not_held", "demand_unmet"});
}

TEST_CASE("V7: each collective has its own release") {
    Collective early = collective(CollectiveKind::Broadcast, "early");
    Collective late = collective(CollectiveKind::Broadcast, "late");
    late.release = Ticks(3);
    const Instance instance = on_all(line(2), {early, late});
    CHECK(broken(instance, schedule(4, {copy(0, 0, 0), copy(1, 0, 3)})) == Codes{});
    CHECK(broken(instance, schedule(4, {copy(1, 0, 0), copy(0, 0, 3)})) ==
          Codes{"before_release", "demand_unmet"});
}

TEST_CASE("V7: contributions of a reduction are released too") {
    Collective sum = collective(CollectiveKind::Reduce);
    sum.release = Ticks(2);
    const Instance instance = on_all(line(2), {sum});
    CHECK(broken(instance, schedule(3, {reduce(0, 1, 2)})) == Codes{});
    CHECK(broken(instance, schedule(2, {reduce(0, 1, 1)})) == Codes{"before_release", "demand_wrong"});
}

namespace {

Collective by_rank(Collective given, std::initializer_list<std::int64_t> releases) {
    for (const std::int64_t release : releases) given.releases.emplace_back(release);
    return given;
}

}  // namespace

TEST_CASE("V7: with releases by rank each rank has its own") {
    const Instance instance = on_all(line(3), {by_rank(collective(CollectiveKind::AllGather), {0, 4, 1})});
    // 0 -> 1 is link 0, 1 -> 0 link 1, 1 -> 2 link 2, 2 -> 1 link 3.
    const auto with_start = [](std::int64_t of_one) {
        return schedule(6, {copy(0, 0, 0), copy(0, 2, 1), copy(2, 3, 1), copy(2, 1, 2), copy(1, 1, of_one),
                            copy(1, 2, 5)});
    };
    CHECK(broken(instance, with_start(4)) == Codes{});
    CHECK(broken(instance, with_start(3)) == Codes{"before_release", "demand_unmet"});
}

TEST_CASE("V7: a late holder may pass on what it got from another one") {
    const Instance instance = on_all(line(4), {by_rank(custom({0, 1}, {2}), {0, 9, 0, 0})});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(0, 2, 1)})) == Codes{});
    CHECK(broken(instance, schedule(1, {copy(0, 2, 0)})) == Codes{"before_release", "demand_unmet"});
    CHECK(broken(instance, schedule(10, {copy(0, 2, 9)})) == Codes{});
}

TEST_CASE("V7: a late contributor sums and passes on before its release, and adds its own at it") {
    // The sum of 0, 1 and 2 at 2; links 0 -> 1 (0), 1 -> 2 (2).
    const Instance late = on_all(line(3), {by_rank(custom({0, 1, 2}, {2}, true), {0, 5, 0})});
    CHECK(broken(late, schedule(6, {reduce(0, 0, 0), reduce(0, 2, 5)})) == Codes{});
    // Without its own before; then its own has what it passed on in it, which counts twice.
    CHECK(broken(late, schedule(2, {reduce(0, 0, 0), reduce(0, 2, 1)})) == Codes{"demand_wrong"});
    CHECK(broken(late, schedule(6, {reduce(0, 0, 0), reduce(0, 2, 1), reduce(0, 2, 5)})) ==
          Codes{"double_count"});
    CHECK(broken(late, schedule(5, {reduce(0, 0, 0), reduce(0, 2, 0), reduce(0, 2, 4)})) ==
          Codes{"before_release", "demand_wrong"});
    // What arrives at the release comes after the own contribution: a copy replaces it.
    CHECK(broken(late, schedule(6, {copy(0, 0, 4), reduce(0, 2, 5)})) == Codes{"demand_wrong"});
    CHECK(broken(late, schedule(6, {copy(0, 0, 3), reduce(0, 2, 5)})) == Codes{});
}

TEST_CASE("V16: a late receiver's own contribution needs no send") {
    const Instance late = on_all(line(2), {by_rank(collective(CollectiveKind::Reduce), {50, 0})});
    CHECK(broken(late, schedule(1, {reduce(0, 1, 0)})) == Codes{});
    // It must not be replaced after its release.
    CHECK(broken(late, schedule(51, {copy(0, 1, 50)})) == Codes{"demand_wrong"});
}

TEST_CASE("V8: with forwarding \"group\" no other NPU may carry a chunk") {
    // 0 -> 1 -> 2 is short; 0 -> 3 -> 2 avoids nobody. The group is {0, 2}.
    const Net net = Net(4).link(0, 1).link(1, 2).link(0, 3).link(3, 2).link(0, 2, 9, 1);
    Collective broadcast = collective(CollectiveKind::Broadcast);
    const Schedule by_relay = schedule(2, {copy(0, 0, 0), copy(0, 1, 1)});
    CHECK(broken(on_group(net, {0, 2}, {broadcast}), by_relay) == Codes{});
    broadcast.forwarding = Forwarding::Group;
    CHECK(broken(on_group(net, {0, 2}, {broadcast}), by_relay) == Codes{"relay_forbidden"});
    CHECK(broken(on_group(net, {0, 2}, {broadcast}), schedule(10, {copy(0, 4, 0)})) == Codes{});
}

TEST_CASE("V8: a chunk may not even visit an outsider") {
    Collective broadcast = collective(CollectiveKind::Broadcast);
    broadcast.forwarding = Forwarding::Group;
    const Instance instance = on_group(line(3), {0, 1}, {broadcast});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(0, 2, 1)})) == Codes{"relay_forbidden"});
}

TEST_CASE("V8: switches belong to no group and carry for every group") {
    Collective broadcast = collective(CollectiveKind::Broadcast);
    broadcast.forwarding = Forwarding::Group;
    const Instance instance = on_group(star(3, {}), {0, 1}, {broadcast});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(0, 3, 1)})) == Codes{});
}

TEST_CASE("V8: each of several groups has its own members") {
    Collective left = collective(CollectiveKind::Broadcast, "left");
    Collective right = collective(CollectiveKind::Broadcast, "right");
    left.forwarding = right.forwarding = Forwarding::Group;
    right.group = GroupId(1);
    const Net net = line(4);
    const Instance instance(
        {"groups", net.parts(), {{"l", nodes({1, 0})}, {"r", nodes({2, 3})}}, {left, right}});
    CHECK(broken(instance, schedule(1, {copy(0, 1, 0), copy(1, 4, 0)})) == Codes{});
    CHECK(broken(instance, schedule(1, {copy(0, 1, 0), copy(1, 4, 0), copy(0, 2, 0)})) ==
          Codes{"relay_forbidden"});
}

TEST_CASE("V15: every receiver must end with its chunk") {
    const Instance instance = broadcast_on(line(3));
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0)})) == Codes{"demand_unmet"});
    CHECK(broken(instance, schedule(0, {})) == Codes{"demand_unmet"});
}

TEST_CASE("V15: an all-to-all is met only when each chunk is with its own receiver") {
    const Instance instance = on_all(line(2), {collective(CollectiveKind::AllToAll)});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), copy(1, 1, 0)})) == Codes{});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(0, 1, 1)})) == Codes{"demand_unmet"});
}

TEST_CASE("V15: a chunk at a switch meets no demand") {
    const Instance instance = on_all(star(2, {}), {custom({0}, {1})});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0)})) == Codes{"demand_unmet"});
}

TEST_CASE("V15: every group's demands count when several groups share the links") {
    Collective first = collective(CollectiveKind::AllGather, "first");
    Collective second = collective(CollectiveKind::AllGather, "second");
    second.group = GroupId(1);
    const Net net = line(3);
    const Instance instance(
        {"groups", net.parts(), {{"a", nodes({0, 1})}, {"b", nodes({2, 1})}}, {first, second}});
    const std::vector<Send> a{copy(0, 0, 0), copy(1, 1, 0)};
    const std::vector<Send> all{copy(0, 0, 0), copy(1, 1, 0), copy(2, 3, 0), copy(3, 2, 0)};
    CHECK(broken(instance, schedule(1, all)) == Codes{});
    CHECK(broken(instance, schedule(1, a)) == Codes{"demand_unmet"});
}
