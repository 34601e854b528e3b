// One small network for each family of constraints, such that the answer would be another without it: at the
// optimum every encoding that can say the instance finds a valid schedule, one unit below it finds none. The
// optima are known by hand; the reasons are beside them. tests/properties/optimum_test.cpp asks the same
// about random ones.

#include "models/backends/registry.hpp"
#include "models/encode/interval.hpp"
#include "models/encode/time_indexed.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/solvers.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <set>

namespace tutti::test {
namespace {

using namespace models;

/// Asks every encoding that can say the instance at the optimum and just below it.
void check_optimum(const Instance& instance, std::int64_t optimum_ticks) {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    const Routing routing(instance);
    CHECK(routing.incomplete() == "");
    REQUIRE(optimum_ticks % routing.unit() == 0);
    const Units64 optimum = routing.units(Ticks(optimum_ticks));
    for (const Units64 horizon : {optimum, optimum - 1}) {
        CAPTURE(horizon);
        const std::string expected = horizon == optimum ? "found" : "none";
        const Question timed = time_indexed(routing, no_quotient(routing), {horizon});
        CHECK(timed.refutes);
        CHECK(answer_to(routing, timed, horizon, *solver.backend) == expected);
        if (why_no_interval(routing).empty()) {
            const Question question = interval(routing, {horizon});
            const std::string answer = answer_to(routing, question, horizon, *solver.backend);
            // Of sums it knows one form only.
            CHECK(question.refutes == !routing.has_sums());
            CHECK((answer == expected || (routing.has_sums() && answer == "none")));
        }
        // A symmetric one may be missing at the optimum, never there below it.
        if (const auto quotient = quotient_of(routing, {})) {
            const Question symmetric = time_indexed(routing, *quotient, {horizon});
            CHECK_FALSE(symmetric.refutes);
            const std::string answer = answer_to(routing, symmetric, horizon, *solver.backend);
            CHECK((answer == expected || answer == "none"));
        }
    }
}

/// Chunks from one NPU to another, each alone.
Collective pieces(std::size_t from, std::size_t to, std::size_t count, std::int64_t release = 0,
                  std::string id = "p") {
    Collective result = custom({from}, {to});
    result.id = std::move(id);
    result.release = Ticks(release);
    result.demands.resize(count, result.demands.front());
    return result;
}

Collective several(Collective made, std::uint32_t chunks) {
    made.chunks = chunks;
    return made;
}

Net ring(std::uint32_t npus, std::int64_t alpha = 0, std::int64_t beta = 1) {
    Net net(npus);
    for (std::uint32_t i = 0; i < npus; ++i) net.both(i, (i + 1) % npus, alpha, beta);
    return net;
}

}  // namespace

TEST_CASE("T1 to T4: a node sends what it has, from then on, and as often as it likes") {
    // 0 - 1 - 2: a hop of 3, then another.
    check_optimum(on_all(line(3, 1, 2), {collective(CollectiveKind::Broadcast)}), 6);
    // A tree of depth two: 0 tells 1 and 2, who tell 3 and 4 at the same time.
    Net tree(5);
    tree.link(0, 1).link(0, 2).link(1, 3).link(2, 4);
    check_optimum(on_all(tree, {collective(CollectiveKind::Broadcast)}), 2);
    // The relay 1 is nobody's target.
    Net relay(4);
    relay.link(0, 1).link(1, 2).link(1, 3);
    check_optimum(on_all(relay, {custom({0}, {2, 3})}), 2);
}

TEST_CASE("T5: a switch that does not copy passes each copy on once") {
    const auto broadcast = [](bool copies) {
        Net net(3);
        const std::size_t hub = net.add_switch({.copy = copies});
        net.link(0, hub).link(hub, 1).link(hub, 2);
        return on_all(net, {collective(CollectiveKind::Broadcast)});
    };
    check_optimum(broadcast(true), 2);
    check_optimum(broadcast(false), 3);
}

TEST_CASE("T6: a flow keeps its chunks apart only at the end, and loses none") {
    check_optimum(on_all(line(3), {collective(CollectiveKind::Scatter)}), 2);
    check_optimum(on_all(line(3), {collective(CollectiveKind::Gather)}), 2);
    check_optimum(on_all(line(4), {collective(CollectiveKind::AllToAll)}), 4);
    check_optimum(on_all(ring(4), {collective(CollectiveKind::AllToAll)}), 2);
}

TEST_CASE("T7: a link carries one transfer at a time") {
    // Three chunks, each 2 on the wire, alpha 3 after the last; with one in flight alpha counts each time.
    check_optimum(on_all(line(2, 3, 2), {pieces(0, 1, 3)}), 9);
    check_optimum(on_all(line(2, 3, 2).one_in_flight(), {pieces(0, 1, 3)}), 15);
    check_optimum(on_all(line(2, 3, 2), {several(collective(CollectiveKind::Broadcast), 3)}), 9);
    // A second link side by side takes every other one.
    Net two(2);
    two.link(0, 1, 3, 2).link(0, 1, 3, 2);
    check_optimum(on_all(two, {pieces(0, 1, 3)}), 7);
    // Two collectives share the link.
    check_optimum(on_all(line(2), {pieces(0, 1, 2, 0, "a"), pieces(0, 1, 1, 0, "b")}), 3);
}

TEST_CASE("release: nothing leaves before it, forwards and backwards") {
    check_optimum(on_all(line(2), {pieces(0, 1, 1, 4)}), 5);
    Collective broadcast = collective(CollectiveKind::Broadcast);
    broadcast.release = Ticks(4);
    check_optimum(on_all(line(3), {broadcast}), 6);
    Collective reduce = collective(CollectiveKind::Reduce);
    reduce.release = Ticks(4);
    check_optimum(on_all(line(3), {reduce}), 6);
    Collective sum = custom({0, 1}, {0, 1}, true);
    sum.release = Ticks(4);
    check_optimum(on_all(line(2), {sum}), 5);
}

TEST_CASE("forwarding: only the group's members relay") {
    // 0 to 2: through 1 in 2, around by 3 and 4 in 3.
    Net net(5);
    net.link(0, 1).link(1, 2).link(0, 3).link(3, 4).link(4, 2);
    Collective free_way = custom({0}, {2}), members_only = custom({0}, {2});
    members_only.forwarding = Forwarding::Group;
    check_optimum(on_group(net, {0, 2, 3, 4}, {free_way}), 2);
    check_optimum(on_group(net, {0, 2, 3, 4}, {members_only}), 3);
}

TEST_CASE("T8: a switch holds no more than its buffer") {
    // The way out to 1 is slow. Both chunks for 1 must be in the switch by 2, when the link in is needed for
    // 2: so the second one waits there, or the last one is late.
    const auto slow = [](std::uint32_t buffer) {
        Net net(3);
        const std::size_t hub = net.add_switch({.buffer = buffer});
        net.link(0, hub, 0, 1).link(hub, 1, 0, 2).link(hub, 2, 0, 1);
        return on_all(net, {pieces(0, 1, 2, 0, "slow"), pieces(0, 2, 2, 2, "late")});
    };
    check_optimum(slow(1), 5);
    check_optimum(slow(0), 6);
    // A switch that copies: the chunk of 0 goes to 2 at once, but to 1 only when 3's chunk has gone there.
    // Without room it must come twice.
    const auto repeats = [](std::uint32_t buffer) {
        Net net(4);
        const std::size_t hub = net.add_switch({.copy = true, .buffer = buffer});
        net.link(0, hub, 0, 2).link(3, hub).link(hub, 1).link(hub, 2);
        return on_all(net, {custom({0}, {1, 2}), pieces(3, 1, 1, 1, "first"), pieces(3, 2, 1, 2, "second")});
    };
    check_optimum(repeats(1), 4);
    check_optimum(repeats(0), 5);
}

TEST_CASE("cut-through: the pace is that of the slowest link, paid once, and both ports are busy for it") {
    const auto through = [](bool cut_through, std::size_t chunks) {
        Net net(2);
        const std::size_t hub = net.add_switch({.cut_through = cut_through});
        net.link(0, hub, 1, 1).link(hub, 1, 1, 3);
        return on_all(net, {pieces(0, 1, chunks)});
    };
    check_optimum(through(false, 1), 6);
    check_optimum(through(true, 1), 5);
    check_optimum(through(true, 2), 8);
    // The fast port in is busy for 3 with the slow one out: the chunk for 2 waits.
    Net fork(3);
    const std::size_t hub = fork.add_switch({.cut_through = true});
    fork.link(0, hub, 0, 1).link(hub, 1, 0, 3).link(hub, 2, 0, 1);
    check_optimum(on_all(fork, {pieces(0, 1, 1, 0, "slow"), pieces(0, 2, 1, 0, "fast")}), 4);
    // Branching, where it copies.
    const auto broadcast = [](bool copies) {
        Net net(3);
        const std::size_t crossbar = net.add_switch({.copy = copies, .cut_through = true});
        net.link(0, crossbar).link(crossbar, 1).link(crossbar, 2);
        return on_all(net, {collective(CollectiveKind::Broadcast)});
    };
    check_optimum(broadcast(true), 1);
    check_optimum(broadcast(false), 2);
    // Joining, where it reduces.
    const auto reduce = [](bool reduces) {
        Net net(3);
        const std::size_t crossbar = net.add_switch({.reduce = reduces, .cut_through = true});
        net.link(1, crossbar).link(2, crossbar).link(crossbar, 0);
        return on_all(net, {collective(CollectiveKind::Reduce)});
    };
    check_optimum(reduce(true), 1);
    check_optimum(reduce(false), 2);
}

TEST_CASE("a storing switch adds up only if it reduces") {
    const auto reduce = [](bool reduces) {
        Net net(3);
        const std::size_t hub = net.add_switch({.reduce = reduces});
        net.link(1, hub).link(2, hub).link(hub, 0);
        return on_all(net, {collective(CollectiveKind::Reduce)});
    };
    check_optimum(reduce(true), 2);
    check_optimum(reduce(false), 3);
}

TEST_CASE("T10, I5: chunks that are alike are put in order, which loses nothing") {
    check_optimum(on_all(line(3), {several(collective(CollectiveKind::Broadcast), 3)}), 4);
    check_optimum(on_all(ring(4), {several(collective(CollectiveKind::AllGather), 2)}), 3);
    check_optimum(on_all(ring(4), {several(collective(CollectiveKind::ReduceScatter), 2)}), 3);
}

TEST_CASE("D1 to D6: sums with several receivers") {
    // Both send what they have at once and add it: nobody waits for the other.
    check_optimum(on_all(line(2), {custom({0, 1}, {0, 1}, true)}), 1);
    check_optimum(on_all(line(3), {custom({0, 1, 2}, {0, 1, 2}, true)}), 2);
    // Nobody is farther than 2, and on a ring of 4 that is enough: exchange one way round, then the other. On
    // a ring of 5 what meets after 2 overlaps; were counting twice allowed, 2 would do.
    const auto once_round = [](std::uint32_t npus) {
        Collective sum = custom({0}, {0}, true);
        for (std::size_t i = 1; i < npus; ++i) {
            sum.demands.front().holders.emplace_back(i);
            sum.demands.front().receivers.emplace_back(i);
        }
        return on_all(ring(npus), {sum});
    };
    check_optimum(once_round(4), 2);
    check_optimum(once_round(5), 3);
    // A copy replaces: 0 must add up at once for 3, and what it then sends to 1 has 1's own part in it.
    Net there_and_back(4);
    there_and_back.link(1, 0).link(2, 0).link(0, 1).link(0, 3);
    check_optimum(on_all(there_and_back, {custom({1, 2}, {1, 3}, true)}), 2);
    // Directly in 3, as reduce-scatter and all-gather in 4.
    check_optimum(on_all(ring(4), {collective(CollectiveKind::AllReduce)}), 3);
    check_optimum(on_all(ring(5), {collective(CollectiveKind::AllReduce)}), 4);
}

TEST_CASE("a sum that is released after the horizon has no schedule") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    Collective sum = custom({0, 1}, {0, 1}, true);
    sum.release = Ticks(4);
    const Instance instance = on_all(line(2), {sum});
    const Routing routing(instance);
    const Question question = time_indexed(routing, no_quotient(routing), {2});
    CHECK(answer_to(routing, question, 2, *solver.backend) == "none");
}

TEST_CASE("every variable has a name of its own") {
    // Three flows of NPU 0, which differ in release and carriers, and a chunk that spreads.
    Collective members_only = pieces(0, 1, 1, 0, "members");
    members_only.forwarding = Forwarding::Group;
    const Instance instance = on_all(
        line(3), {pieces(0, 1, 2, 0, "now"), pieces(0, 2, 2, 1, "later"), members_only, custom({0}, {1, 2})});
    const Routing routing(instance);
    for (const Question& question :
         {time_indexed(routing, no_quotient(routing), {6}), interval(routing, {6})}) {
        std::set<std::string> names;
        for (std::uint32_t v = 0; v < question.program.vars(); ++v)
            names.insert(question.program.name(Var{v}));
        CHECK(names.size() == question.program.vars());
    }
}

// Where the arguments of models/README.md end: each of these once was refuted though there is a schedule.
TEST_CASE("what the routing cannot express is never refuted, and what it can is found") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    // At the optimum in ticks, which need not be a whole number of units.
    const auto never_refuted = [&](const Instance& instance, std::int64_t optimum) {
        const Routing routing(instance);
        const Units64 horizon = routing.units(Ticks(optimum));
        const Question timed = time_indexed(routing, no_quotient(routing), {horizon});
        const std::string answer = answer_to(routing, timed, horizon, *solver.backend);
        CHECK((answer == "found" || (answer == "none" && !timed.refutes)));
        if (!why_no_interval(routing).empty()) return;
        const Question intervals = interval(routing, {horizon});
        CHECK((!intervals.refutes || answer_to(routing, intervals, horizon, *solver.backend) == "found"));
    };
    SUBCASE("units of one flow cross in a cut-through switch") {
        Net net(3);
        const std::size_t hub = net.add_switch({.cut_through = true});
        net.link(0, hub, 0, 3).link(0, hub, 0, 1).link(hub, 1, 0, 1).link(hub, 2, 0, 3);
        check_optimum(on_all(net, {pieces(0, 1, 3, 0, "a"), pieces(0, 2, 1, 0, "b")}), 3);
    }
    SUBCASE("two copies of unlike pace meet in a switch that copies") {
        Net net(3);
        const std::size_t hub = net.add_switch({.copy = true, .cut_through = true});
        net.link(0, hub, 0, 3).link(0, hub, 0, 1).link(hub, 2, 0, 3).link(hub, 1, 0, 1);
        never_refuted(on_all(net, {custom({0}, {1, 2}), pieces(0, 1, 2, 1)}), 3);
    }
    SUBCASE("two contributions of unlike pace meet in a switch that reduces") {
        Net net(4);
        const std::size_t hub = net.add_switch({.reduce = true, .cut_through = true});
        net.link(0, hub, 0, 3).link(1, hub, 0, 1).link(hub, 2, 0, 3).link(hub, 3, 0, 1).link(3, 2, 0, 1);
        never_refuted(on_all(net, {custom({0, 1}, {2}, true), pieces(1, 3, 2, 1)}), 3);
    }
    SUBCASE("a chunk circles to lose time") {
        Net net(5);
        const std::size_t a = net.add_switch({.cut_through = true}),
                          b = net.add_switch({.cut_through = true});
        net.link(0, a).link(3, a).link(a, 1).link(a, 2).link(a, 4).link(a, b, 1, 1).link(b, a);
        never_refuted(on_all(net, {pieces(0, 1, 1, 0, "a"), pieces(3, 1, 1, 0, "b"), pieces(0, 2, 2, 1, "c"),
                                   pieces(3, 4, 2, 1, "d")}),
                      3);
    }
    SUBCASE("half a unit avoids a race") {
        Net net(6);
        net.link(0, 4, 0, 2).link(1, 4, 0, 2).link(4, 3, 0, 2).link(4, 0, 0, 2);
        net.link(2, 3, 0, 2).link(2, 5, 0, 2).link(5, 0, 0, 2);
        never_refuted(on_all(net, {custom({0, 1, 2}, {0, 3}, true)}), 5);
    }
    SUBCASE("half a unit avoids that copies cross") {
        Net net(3);
        const std::size_t hub = net.add_switch({.cut_through = true});
        net.link(0, hub, 0, 6).link(0, hub, 0, 2).link(hub, 1, 0, 2).link(hub, 2, 0, 6);
        never_refuted(on_all(net, {custom({0}, {1, 2}), pieces(0, 1, 2, 2)}), 7);
    }
}

TEST_CASE("T9: a copy and a sum that cross in a cut-through switch change places") {
    Net net(6);
    const std::size_t hub = net.add_switch({.cut_through = true});
    net.link(0, hub).link(1, hub).link(hub, 2).link(hub, 3).link(hub, 4).link(hub, 5);
    net.link(0, 2, 0, 2).link(1, 3, 0, 2);
    check_optimum(
        on_all(net, {custom({0, 1}, {2, 3}, true), pieces(0, 4, 1, 1, "f"), pieces(1, 5, 1, 1, "g")}), 3);
}

TEST_CASE("T9 holds for the images of a symmetry too, whose links have other numbers") {
    Net net(4);
    const std::size_t hub = net.add_switch({.cut_through = true});
    for (std::size_t i = 0; i < 4; ++i) {
        net.link(i, hub, 0, 1).link(i, hub, 0, 2).link(hub, i, 0, 2).link(hub, i, 0, 1);
    }
    // Each sends three copies, two by the fast link: 2, if they went on as they like. But the lower link in,
    // which is fast, goes on by the lower link out, which is slow.
    const Instance instance = on_all(net, {collective(CollectiveKind::AllGather)});
    REQUIRE(quotient_of(Routing(instance), {}));
    check_optimum(instance, 3);
}

TEST_CASE("T2, T8: no branch of a hop ends at a node that does not use the chunk") {
    // Backwards such a branch is a send of nothing. Every hop is hinted at in turn, so that the solver would
    // take it.
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    const auto check = [&](const Instance& instance, Units64 optimum) {
        const Routing routing(instance);
        const Network& network = routing.network_of(routing.commodities().front());
        REQUIRE(network.has_trees);
        for (std::uint32_t h = 0; h < network.hops.size(); ++h) {
            CAPTURE(h);
            const std::vector<Transfer> hint{{0, h, 0, Op::Copy}};
            const Question question = time_indexed(routing, no_quotient(routing), {optimum, hint});
            CHECK(answer_to(routing, question, optimum, *solver.backend) == "found");
        }
    };
    // 1 contributes nothing and gets nothing, but has a link.
    Net idle(3);
    const std::size_t crossbar = idle.add_switch({.reduce = true, .cut_through = true});
    idle.link(0, crossbar).link(1, crossbar).link(crossbar, 2);
    check(on_all(idle, {custom({0, 2}, {2}, true)}), 1);
    // So does a switch that adds up and holds nothing; what it gets, backwards, it may not just drop.
    Net drops(3);
    const std::size_t hub = drops.add_switch({.reduce = true, .cut_through = true});
    const std::size_t adder = drops.add_switch({.reduce = true, .buffer = 0});
    drops.link(0, hub).link(adder, hub).link(hub, 2).link(0, adder).link(1, adder);
    check(on_all(drops, {custom({0, 2}, {2}, true)}), 4);
}

/// Two crossbars with two NPUs each: 0 and 1 at the first, 2 and 3 at the second; the crossbars are joined
/// without latency. Links: 0 -> a, 2 -> b, a -> 1, b -> 3, a -> b, b -> a.
Net joined_crossbars(std::int64_t beta_of_0 = 1) {
    Net net(4);
    const std::size_t a = net.add_switch({.cut_through = true}), b = net.add_switch({.cut_through = true});
    return net.link(0, a, 0, beta_of_0).link(2, b).link(a, 1).link(b, 3).link(a, b).link(b, a);
}

TEST_CASE("hops that cross between zero-latency crossbars are decoded without the circle they close") {
    const Instance instance = on_all(joined_crossbars(), {custom({0, 2}, {1, 3})});
    const Routing routing(instance);
    const Network& network = routing.network_of(routing.commodities().front());
    std::vector<Transfer> crossing;
    for (std::uint32_t h = 0; h < network.hops.size(); ++h) {
        if (network.hops[h].legs.size() == 3) crossing.push_back({0, h, 0, Op::Copy});
    }
    REQUIRE(crossing.size() == 2);
    const Schedule decoded = schedule_of(routing, 1, crossing);
    CHECK(decoded.sends.size() == 4);
    CHECK(verify::verify(instance, decoded).valid());
    // The solver would take them as they are hinted at.
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    CHECK(answer_to(routing, time_indexed(routing, no_quotient(routing), {1, crossing}), 1,
                    *solver.backend) == "found");
    CHECK(answer_to(routing, interval(routing, {1, crossing}), 1, *solver.backend) == "found");
}

TEST_CASE("T9: where paces differ, hops do not cross between zero-latency crossbars against the rules") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    const Instance instance = on_all(joined_crossbars(2), {custom({0, 2}, {1, 3})});
    const Routing routing(instance);
    const Network& network = routing.network_of(routing.commodities().front());
    std::vector<Transfer> crossing;
    for (std::uint32_t h = 0; h < network.hops.size(); ++h) {
        if (network.hops[h].legs.size() == 3) crossing.push_back({0, h, 0, Op::Copy});
    }
    CHECK(answer_to(routing, time_indexed(routing, no_quotient(routing), {2, crossing}), 2,
                    *solver.backend) == "found");
}

TEST_CASE("a model that grows beyond its size is given up, and says so") {
    const Instance instance = on_all(ring(4), {collective(CollectiveKind::AllReduce)});
    const Routing routing(instance);
    const Asked asked{6, {}, {}, 50};
    CHECK(time_indexed(routing, no_quotient(routing), asked).too_large);
    CHECK_FALSE(time_indexed(routing, no_quotient(routing), {6}).too_large);
    const Instance spread = on_all(ring(4), {collective(CollectiveKind::AllGather)});
    const Routing spreading(spread);
    CHECK(interval(spreading, {6, {}, {}, 5}).too_large);
    CHECK_FALSE(interval(spreading, {6}).too_large);
}

TEST_CASE("T9 takes little room where many hops pass a crossbar") {
    // Pair by pair, an all-reduce of 16 NPUs at one crossbar had more than 70 million clauses.
    const Instance instance =
        on_all(star(16, {.cut_through = true}, 1, 2), {collective(CollectiveKind::AllReduce)});
    const Routing routing(instance);
    const auto quotient = quotient_of(routing, {});
    REQUIRE(quotient);
    const Question question = time_indexed(routing, *quotient, {40});
    CHECK(question.program.size() < 10'000'000);
}

}  // namespace tutti::test
