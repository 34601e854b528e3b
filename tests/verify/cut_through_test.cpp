// V12 and what cut-through switches do to arrivals, busy links and values.

#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

using Codes = std::set<std::string>;

SwitchRule crossbar(bool copies = false, bool reduces = false) {
    return {.copy = copies, .reduce = reduces, .cut_through = true, .buffer = {}};
}

/// 0 -> hub -> 1 and 0 -> hub -> 2. Links: 0 into the hub (alpha 1), 1 to NPU 1 (alpha 3), 2 to NPU 2 (alpha
/// 3).
Net fork(const SwitchRule& rule, std::int64_t in, std::int64_t out1, std::int64_t out2) {
    Net net(3);
    const std::size_t hub = net.add_switch(rule);
    return net.link(0, hub, 1, in).link(hub, 1, 3, out1).link(hub, 2, 3, out2);
}

/// 1 -> hub -> 0 and 2 -> hub -> 0. Links: 0 from NPU 1 (alpha 1), 1 from NPU 2 (alpha 2), 2 to NPU 0 (alpha
/// 3).
Net merge(const SwitchRule& rule, std::int64_t in1, std::int64_t in2, std::int64_t out) {
    Net net(3);
    const std::size_t hub = net.add_switch(rule);
    return net.link(1, hub, 1, in1).link(2, hub, 2, in2).link(hub, 0, 3, out);
}

Instance to_1(const Net& net) { return on_all(net, {custom({0}, {1})}); }

/// Chunk 0 for NPU 1, chunk 1 for NPU 2, both from NPU 0.
Instance one_each(const Net& net) {
    Collective both = custom({0}, {1});
    both.demands.push_back({nodes({0}), nodes({2}), false, {}});
    return on_all(net, {both});
}

Instance sum_of_1_and_2(const Net& net) { return on_all(net, {custom({1, 2}, {0}, true)}); }

}  // namespace

TEST_CASE("through a crossbar the slower beta is paid once") {
    CHECK(broken(to_1(fork(crossbar(), 2, 5, 1)), schedule(1 + 3 + 5, {copy(0, 0, 0), copy(0, 1, 1)})) ==
          Codes{});
    CHECK(broken(to_1(fork(crossbar(), 5, 2, 1)), schedule(1 + 3 + 5, {copy(0, 0, 0), copy(0, 1, 1)})) ==
          Codes{});
    // A switch that stores pays both.
    CHECK(broken(to_1(fork({}, 2, 5, 1)), schedule(3 + 3 + 5, {copy(0, 0, 0), copy(0, 1, 3)})) == Codes{});
}

TEST_CASE("through a crossbar without latency everything starts at one tick") {
    const Instance instance = on_all(star(2, crossbar(), 0, 4), {custom({0}, {1})});
    CHECK(broken(instance, schedule(4, {copy(0, 0, 0), copy(0, 3, 0)})) == Codes{});
    CHECK(broken(instance, schedule(4, {copy(0, 3, 0), copy(0, 0, 0)})) == Codes{});
}

TEST_CASE("V12: the onward send starts exactly alpha after the inbound one") {
    const Instance instance = to_1(fork(crossbar(), 2, 2, 2));
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), copy(0, 1, 1)})) == Codes{});
    CHECK(broken(instance, schedule(7, {copy(0, 0, 0), copy(0, 1, 2)})) ==
          Codes{"cut_through", "demand_unmet"});
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(0, 1, 0)})) ==
          Codes{"cut_through", "demand_unmet"});
}

TEST_CASE("V12: an inbound send must be taken onward") {
    CHECK(broken(to_1(fork(crossbar(), 2, 2, 2)), schedule(3, {copy(0, 0, 0)})) ==
          Codes{"cut_through", "demand_unmet"});
    CHECK(broken(to_1(fork(crossbar(true), 2, 2, 2)),
                 schedule(13, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 0, 10)})) == Codes{"cut_through"});
}

TEST_CASE("V12: a send out of a crossbar that nothing feeds brings nothing") {
    CHECK(broken(to_1(fork(crossbar(), 2, 2, 2)), schedule(5, {copy(0, 1, 0)})) ==
          Codes{"cut_through", "demand_unmet"});
}

TEST_CASE("V12: another chunk's inbound send does not count") {
    const Instance instance = one_each(fork(crossbar(), 2, 2, 2));
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), copy(1, 2, 1)})) ==
          Codes{"cut_through", "demand_unmet"});
}

TEST_CASE("V5: a fast link into a crossbar is busy as long as the slow link behind it") {
    const Instance instance = one_each(fork(crossbar(), 2, 5, 2));
    CHECK(broken(instance, schedule(11, {copy(0, 0, 0), copy(0, 1, 1), copy(1, 0, 5), copy(1, 2, 6)})) ==
          Codes{});
    CHECK(broken(instance, schedule(10, {copy(0, 0, 0), copy(0, 1, 1), copy(1, 0, 4), copy(1, 2, 5)})) ==
          Codes{"link_overlap"});
}

TEST_CASE("V5: a fast link out of a crossbar is busy as long as the slow link before it") {
    // Chunk 0 from NPU 1 (slow), chunk 1 from NPU 2 (fast), both to NPU 0.
    Collective both = custom({1}, {0});
    both.demands.push_back({nodes({2}), nodes({0}), false, {}});
    const Instance instance = on_all(merge(crossbar(), 6, 1, 1), {both});
    CHECK(broken(instance, schedule(11, {copy(0, 0, 0), copy(0, 2, 1), copy(1, 1, 5), copy(1, 2, 7)})) ==
          Codes{});
    CHECK(broken(instance, schedule(10, {copy(0, 0, 0), copy(0, 2, 1), copy(1, 1, 4), copy(1, 2, 6)})) ==
          Codes{"link_overlap"});
}

TEST_CASE("V5: with one message in flight a link into a crossbar is busy for its alpha too") {
    const Instance instance = one_each(fork(crossbar(), 2, 5, 2).one_in_flight());
    CHECK(broken(instance, schedule(12, {copy(0, 0, 0), copy(0, 1, 1), copy(1, 0, 6), copy(1, 2, 7)})) ==
          Codes{});
    CHECK(broken(instance, schedule(11, {copy(0, 0, 0), copy(0, 1, 1), copy(1, 0, 5), copy(1, 2, 6)})) ==
          Codes{"link_overlap"});
}

TEST_CASE("through two crossbars the slowest beta is paid once and keeps every link busy") {
    Net net(2);
    const std::size_t first = net.add_switch(crossbar()), second = net.add_switch(crossbar());
    net.link(0, first, 1, 1).link(first, second, 2, 7).link(second, 1, 3, 2);
    Collective two = collective(CollectiveKind::Broadcast);
    two.chunks = 2;
    const Instance instance = on_all(net, {two});
    const std::vector<Send> one{copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 3)};
    const auto with_second_at = [&](std::int64_t start) {
        auto sends = one;
        sends.insert(sends.end(), {copy(1, 0, start), copy(1, 1, start + 1), copy(1, 2, start + 3)});
        return schedule(start + 3 + 3 + 7, sends);
    };
    CHECK(broken(instance, schedule(13, one)) == Codes{"demand_unmet"});
    CHECK(broken(instance, with_second_at(7)) == Codes{});
    CHECK(broken(instance, with_second_at(6)) == Codes{"link_overlap"});
}

TEST_CASE("V12: both halves of a chain of crossbars must be taken onward") {
    Net net(2);
    const std::size_t first = net.add_switch(crossbar()), second = net.add_switch(crossbar());
    net.link(0, first, 1, 1).link(first, second, 2, 7).link(second, 1, 3, 2);
    const Instance instance = on_all(net, {custom({0}, {1})});
    CHECK(broken(instance, schedule(10, {copy(0, 0, 0), copy(0, 1, 1)})) ==
          Codes{"cut_through", "demand_unmet"});
}

TEST_CASE("a storing node between two crossbars pays beta anew") {
    Net net(3);
    const std::size_t first = net.add_switch(crossbar()), second = net.add_switch(crossbar());
    net.link(0, first, 0, 4).link(first, 1, 0, 1).link(1, second, 0, 2).link(second, 2, 0, 3);
    const Instance instance = on_all(net, {custom({0}, {2})});
    CHECK(broken(instance, schedule(7, {copy(0, 0, 0), copy(0, 1, 0), copy(0, 2, 4), copy(0, 3, 4)})) ==
          Codes{});
}

TEST_CASE("V9: a crossbar that does not copy takes an inbound send onward once") {
    const Instance instance = on_all(fork(crossbar(), 2, 2, 2), {custom({0}, {1, 2})});
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 1)})) ==
          Codes{"switch_copy", "demand_unmet"});
}

TEST_CASE("a crossbar that copies sends onward at once to several, each at its own speed") {
    const Instance instance = on_all(fork(crossbar(true), 2, 1, 9), {custom({0}, {1, 2})});
    const std::vector<Send> sends{copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 1)};
    CHECK(broken(instance, schedule(1 + 3 + 9, sends)) == Codes{});
    CHECK(broken(instance, schedule(14, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 2)})) ==
          Codes{"cut_through", "demand_unmet"});
}

TEST_CASE(
    "V5: the link that feeds a multicast is busy as long as the slowest branch, a branch only for itself") {
    Collective both = custom({0}, {1, 2});
    both.demands.push_back({nodes({0}), nodes({1}), false, {}});
    const Instance feed = on_all(fork(crossbar(true), 2, 1, 9), {both});
    const auto next_at = [](std::int64_t start) {
        return schedule(
            std::max<std::int64_t>(13, start + 1 + 3 + 2),
            {copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 1), copy(1, 0, start), copy(1, 1, start + 1)});
    };
    CHECK(broken(feed, next_at(9)) == Codes{});
    CHECK(broken(feed, next_at(8)) == Codes{"link_overlap"});
    // Another way into the hub shows that branch 1 is free after 2 ticks.
    Net net = fork(crossbar(true), 2, 1, 9);
    net.link(0, 3, 1, 2);
    const Instance branch = on_all(net, {both});
    const auto beside_at = [](std::int64_t start) {
        return schedule(
            13, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 1), copy(1, 3, start), copy(1, 1, start + 1)});
    };
    CHECK(broken(branch, beside_at(2)) == Codes{});
    CHECK(broken(branch, beside_at(1)) == Codes{"link_overlap"});
}

TEST_CASE("a crossbar that reduces adds what is due onward at the same tick") {
    // Alphas 1 and 2: the inbound sends start one tick apart. The slowest of both pays.
    const Instance instance = sum_of_1_and_2(merge(crossbar(false, true), 2, 6, 1));
    CHECK(broken(instance, schedule(2 + 3 + 6, {reduce(0, 0, 1), reduce(0, 1, 0), copy(0, 2, 2)})) ==
          Codes{});
    CHECK(broken(instance, schedule(2 + 3 + 6, {reduce(0, 0, 0), reduce(0, 1, 0), copy(0, 2, 2)})) ==
          Codes{"cut_through", "demand_wrong"});
}

TEST_CASE("V5: what adds up in a crossbar keeps every inbound link as long as the slowest of them") {
    Collective two = custom({1, 2}, {0}, true);
    two.demands.push_back({nodes({1}), nodes({0}), false, {}});
    Net net = merge(crossbar(false, true), 2, 6, 3);
    net.link(3, 0, 3, 1);  // a second way out
    const Instance instance = on_all(net, {two});
    const auto next_at = [](std::int64_t start) {
        return schedule(start + 6, {reduce(0, 0, 1), reduce(0, 1, 0), copy(0, 2, 2), copy(1, 0, start),
                                    copy(1, 3, start + 1)});
    };
    CHECK(broken(instance, next_at(7)) == Codes{});
    CHECK(broken(instance, next_at(6)) == Codes{"link_overlap"});
}

TEST_CASE("V13: a crossbar that reduces counts no contribution twice") {
    Net net(2);
    const std::size_t hub = net.add_switch(crossbar(false, true));
    net.link(1, hub).link(1, hub).link(hub, 0);
    const Instance instance = on_all(net, {custom({1}, {0}, true)});
    CHECK(broken(instance, schedule(1, {reduce(0, 0, 0), reduce(0, 1, 0), copy(0, 2, 0)})) ==
          Codes{"double_count"});
}

TEST_CASE("V10: a crossbar that does not reduce takes no reduce") {
    const Instance instance = on_all(fork(crossbar(), 2, 2, 2), {custom({0, 1}, {1}, true)});
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), reduce(0, 1, 1)})) == Codes{});
    CHECK(broken(instance, schedule(6, {reduce(0, 0, 0), reduce(0, 1, 1)})) ==
          Codes{"switch_reduce", "not_held", "demand_wrong"});
}

TEST_CASE(
    "a crossbar that does not reduce takes two inbound sends onward one by one, in order of link number") {
    Net net(4);
    const std::size_t hub = net.add_switch(crossbar());
    // Into the hub from 0 (beta 5) and 1 (beta 1), out to 2 and 3.
    net.link(0, hub, 0, 5).link(1, hub, 0, 1).link(hub, 2, 0, 1).link(hub, 3, 0, 1);
    const Instance instance = on_all(net, {custom({0, 1}, {2, 3})});
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(0, 1, 0), copy(0, 2, 0), copy(0, 3, 0)})) ==
          Codes{});
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(0, 1, 0), copy(0, 2, 0)})) ==
          Codes{"cut_through", "demand_unmet"});
}

TEST_CASE("a value passes a crossbar as it was when it left its source") {
    // NPU 1 sends at tick 0, before NPU 2's contribution reaches it at tick 1; the onward send starts at
    // tick 2.
    Net net(3);
    const std::size_t hub = net.add_switch(crossbar());
    net.link(2, 1).link(1, hub, 2, 1).link(hub, 0);
    const Instance instance = on_all(net, {custom({1, 2}, {0}, true)});
    CHECK(broken(instance, schedule(3, {reduce(0, 0, 0), copy(0, 1, 0), copy(0, 2, 2)})) ==
          Codes{"demand_wrong"});
    CHECK(broken(instance, schedule(4, {reduce(0, 0, 0), copy(0, 1, 1), copy(0, 2, 3)})) == Codes{});
}

TEST_CASE("V6: a crossbar takes nothing onward when the inbound send brings nothing") {
    const Instance instance = on_all(fork(crossbar(), 2, 2, 2), {custom({1}, {2})});
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), copy(0, 2, 1)})) == Codes{"not_held", "demand_unmet"});
}

TEST_CASE("V11: a crossbar holds nothing, so its buffer never overflows") {
    SwitchRule rule = crossbar();
    rule.buffer = 0;
    const Instance instance = on_all(star(2, rule, 2, 3), {custom({0}, {1})});
    CHECK(broken(instance, schedule(7, {copy(0, 0, 0), copy(0, 3, 2)})) == Codes{});
}

TEST_CASE("crossbars that only feed each other in a cycle are refused") {
    Net net(1);
    const std::size_t first = net.add_switch(crossbar()), second = net.add_switch(crossbar());
    net.both(first, second, 0, 1).both(0, first, 0, 1);
    const Instance instance = on_all(net, {custom({0}, {0})});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), copy(0, 1, 0)})) == Codes{"not_held"});
    // Over a second link between them goes what nothing is left for; what forwards that carries nothing.
    Net twice(1);
    const std::size_t a = twice.add_switch(crossbar()), b = twice.add_switch(crossbar());
    twice.link(a, b, 0, 2).link(b, a, 0, 3).link(a, b, 0, 1).both(0, a, 0, 1).link(b, 0, 0, 1);
    const Instance wider = on_all(twice, {custom({0}, {0})});
    const auto sends = {copy(0, 0, 0), copy(0, 1, 0), copy(0, 2, 0), copy(0, 5, 0)};
    CHECK(broken(wider, schedule(3, sends)) == Codes{"not_held", "switch_copy"});
    CHECK(true_makespan(wider, schedule(3, sends)) == 3);
}

TEST_CASE("what entered a crossbar and brings nothing is forwarded before what entered later") {
    // NPU 0 has nothing to send; what NPU 1 sends is due at the same tick, over a higher link.
    Net net(3);
    const std::size_t hub = net.add_switch(crossbar());
    net.link(0, hub, 3, 1).link(1, hub, 1, 1).link(hub, 2, 0, 1);
    const Instance instance = on_all(net, {custom({1}, {2})});
    CHECK(broken(instance, schedule(4, {copy(0, 0, 0), copy(0, 1, 2), copy(0, 2, 3)})) ==
          Codes{"not_held", "cut_through", "demand_unmet"});
    CHECK(broken(instance, schedule(6, {copy(0, 1, 2), copy(0, 2, 3), copy(0, 0, 0), copy(0, 1, 4),
                                        copy(0, 2, 5)})) == Codes{"not_held", "cut_through"});
}

TEST_CASE("two sends of one chunk over one link at one tick are told apart where crossbars feed each other") {
    // 0 -> a, a -> b twice, b -> a, b -> 1: the first of the two comes from 0 and goes to a, the second comes
    // from b, where it goes to 1.
    Net net(2);
    const std::size_t a = net.add_switch(crossbar()), b = net.add_switch(crossbar());
    net.link(0, a, 0, 1).link(a, b, 0, 1).link(b, a, 0, 1).link(b, 1, 0, 1);
    const Instance instance = on_all(net, {custom({0}, {1})});
    const auto sends = {copy(0, 0, 0), copy(0, 1, 0), copy(0, 1, 0), copy(0, 2, 0), copy(0, 3, 0)};
    CHECK(broken(instance, schedule(1, sends)) == Codes{"link_overlap"});
}

TEST_CASE("ways that cross between zero-latency crossbars at one tick are paired by link number") {
    // 0 -> a -> b -> 3 and 2 -> b -> a -> 1, each switch waiting for the other to know all that is due. The
    // pairs are those of the link numbers, in whatever order the switches' links are numbered.
    Net net(4);
    const std::size_t a = net.add_switch(crossbar()), b = net.add_switch(crossbar());
    net.link(0, a).link(2, b).link(a, b).link(a, 1).link(b, a).link(b, 3);
    const Instance instance = on_all(net, {custom({0, 2}, {1, 3})});
    const std::vector<Send> all{copy(0, 0, 0), copy(0, 1, 0), copy(0, 2, 0),
                                copy(0, 3, 0), copy(0, 4, 0), copy(0, 5, 0)};
    CHECK(broken(instance, schedule(1, all)) == Codes{});
    CHECK(broken(instance, schedule(1, {all[0], all[1], all[3], all[5]})) == Codes{});
    // The slow link of 0 is on the way to 3, and that of 2 on the way to 1.
    Net slow(4);
    const std::size_t c = slow.add_switch(crossbar()), d = slow.add_switch(crossbar());
    slow.link(0, c, 0, 5).link(2, d, 0, 3).link(c, d).link(c, 1, 4, 1).link(d, c).link(d, 3, 9, 1);
    const Instance uneven = on_all(slow, {custom({0, 2}, {1, 3})});
    CHECK(true_makespan(uneven, schedule(14, all)) == 14);
    // Numbered so, 0's goes to 1 and 2's to 3, and what is left is a circle that nothing feeds.
    Net crossed(4);
    const std::size_t e = crossed.add_switch(crossbar()), f = crossed.add_switch(crossbar());
    crossed.link(0, e).link(2, f).link(e, 1).link(f, 3).link(e, f).link(f, e);
    const Instance circle = on_all(crossed, {custom({0, 2}, {1, 3})});
    CHECK(broken(circle, schedule(1, all)) == Codes{"not_held"});
}

TEST_CASE("a crossbar that copies or adds keeps its pairs where ways cross at one tick") {
    for (const bool copies : {false, true}) {
        CAPTURE(copies);
        Net net(5);
        const std::size_t a = net.add_switch(crossbar(copies, !copies)), b = net.add_switch(crossbar());
        net.link(0, a).link(2, b).link(a, b).link(a, 1).link(b, a).link(b, 3).link(a, 4);
        if (copies) {  // what comes from b goes to 1 and 4
            CHECK(broken(on_all(net, {custom({0, 2}, {1, 3, 4})}),
                         schedule(1, {copy(0, 0, 0), copy(0, 1, 0), copy(0, 2, 0), copy(0, 3, 0),
                                      copy(0, 4, 0), copy(0, 5, 0), copy(0, 6, 0)})) == Codes{});
        } else {  // what 0 sends and what comes from b is one sum, and goes on by the first link
            CHECK(broken(on_all(net, {custom({0, 2}, {1}, true)}),
                         schedule(1, {reduce(0, 0, 0), copy(0, 1, 0), copy(0, 3, 0), reduce(0, 4, 0)})) ==
                  Codes{});
        }
    }
}
