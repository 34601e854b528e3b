#include "tests/oracle/brute_force.hpp"

#include "bounds/bounds.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/oracle_data.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/tiny_instance.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace tutti;
using namespace tutti::test;
using tutti::oracle::brute_force_optimum;
using tutti::oracle::BruteForceAnswer;
using tutti::oracle::Shortcuts;

namespace {

constexpr std::uint64_t kWork = 200'000;

/// The optimum, with and without shortcuts, after both checkers have accepted the schedule; -1 if there is
/// none up to tick 12.
std::int64_t optimum(const Instance& instance) {
    const auto result = brute_force_optimum(instance, Ticks(12), kWork);
    const auto slow = brute_force_optimum(instance, Ticks(12), kWork, Shortcuts::None);
    REQUIRE(result.answer != BruteForceAnswer::WorkLimit);
    if (slow.answer != BruteForceAnswer::WorkLimit) CHECK(slow.optimum == result.optimum);
    if (!result.optimum) return -1;
    INFO(text_of(instance, result.schedule));
    CHECK(broken(instance, result.schedule).empty());
    CHECK(true_makespan(instance, result.schedule) == result.optimum->count());
    return result.optimum->count();
}

Collective broadcast(std::uint64_t chunks) {
    Collective made = collective(CollectiveKind::Broadcast);
    made.root = Rank(0);
    made.chunks = chunks;
    return made;
}

Collective reduce_to_first() {
    Collective made = collective(CollectiveKind::Reduce);
    made.root = Rank(0);
    return made;
}

Net ring(std::uint32_t npus, std::int64_t alpha) {
    Net net(npus);
    for (std::uint32_t i = 0; i < npus; ++i) net.both(i, (i + 1) % npus, alpha);
    return net;
}

}  // namespace

TEST_SUITE_BEGIN("brute force");

TEST_CASE("nothing to send takes no time, whatever the release") {
    Collective held = custom({0, 1}, {1});
    held.release = Ticks(2);
    CHECK(optimum(on_all(line(2), {held})) == 0);
    CHECK(optimum(on_all(line(2), {custom({1}, {1}, true)})) == 0);
    // A late holder has it in time from another one, or waits for its own.
    Collective late = custom({0, 1}, {2});
    late.releases = {Ticks(0), Ticks(5), Ticks(0)};
    CHECK(optimum(on_all(line(3), {late})) == 2);
    late.releases = {Ticks(5), Ticks(1), Ticks(0)};
    CHECK(optimum(on_all(line(3), {late})) == 2);
}

TEST_CASE("a late contributor goes in last, and the others are summed before") {
    Collective sum = custom({0, 1, 2}, {0, 1, 2}, true);
    sum.releases = {Ticks(0), Ticks(0), Ticks(4)};
    CHECK(optimum(on_all(line(3), {sum})) == 6);  // 2 -> 1 -> 0
    sum.releases = {Ticks(0), Ticks(4), Ticks(0)};
    CHECK(optimum(on_all(line(3), {sum})) == 5);
    sum = custom({0, 1, 2}, {0}, true);  // the root needs its own contribution only at the end
    sum.releases = {Ticks(9), Ticks(0), Ticks(0)};
    CHECK(optimum(on_all(line(3), {sum})) == 2);
}

TEST_CASE("one transfer takes alpha and beta after the release") {
    Collective late = custom({0}, {1});
    late.release = Ticks(2);
    CHECK(optimum(on_all(line(2, 1, 2), {custom({0}, {1})})) == 3);
    CHECK(optimum(on_all(line(2, 1, 2), {late})) == 5);
}

TEST_CASE("a link is busy for beta, or for alpha and beta") {
    CHECK(optimum(on_all(line(2, 2, 1), {broadcast(2)})) == 4);
    CHECK(optimum(on_all(line(2, 2, 1).one_in_flight(), {broadcast(2)})) == 6);
}

TEST_CASE("parallel links share the load") {
    CHECK(optimum(on_all(Net(2).link(0, 1), {broadcast(2)})) == 2);
    CHECK(optimum(on_all(Net(2).link(0, 1).link(0, 1), {broadcast(2)})) == 1);
}

TEST_CASE("an NPU outside the group relays unless forwarding is by the group") {
    Collective pair = collective(CollectiveKind::AllGather);
    CHECK(optimum(on_group(line(3, 1, 1), {0, 2}, {pair})) == 4);
    pair.forwarding = Forwarding::Group;
    CHECK(optimum(on_group(line(3, 1, 1), {0, 2}, {pair})) == -1);
}

TEST_CASE("collectives on a line") {
    CHECK(optimum(on_all(line(3), {collective(CollectiveKind::AllGather)})) == 2);
    CHECK(optimum(on_all(line(3), {collective(CollectiveKind::AllToAll)})) == 2);
    CHECK(optimum(on_all(line(2), {collective(CollectiveKind::ReduceScatter)})) == 1);
    CHECK(optimum(on_all(line(2), {collective(CollectiveKind::AllReduce)})) == 2);
    CHECK(optimum(on_all(line(3), {reduce_to_first()})) == 2);
}

TEST_CASE("two NPUs that exchange their contributions both have the sum") {
    CHECK(optimum(on_all(line(2), {custom({0, 1}, {0, 1}, true)})) == 1);
    CHECK(optimum(on_all(ring(4, 0), {custom({0, 1, 2, 3}, {0, 1, 2, 3}, true)})) == 2);
}

TEST_CASE("a switch that does not copy must get a chunk once for each time it sends it") {
    CHECK(optimum(on_all(star(3, {}), {broadcast(1)})) == 3);
    CHECK(optimum(on_all(star(3, {.copy = true}), {broadcast(1)})) == 2);
}

TEST_CASE("a storing switch that reduces sends one sum") {
    CHECK(optimum(on_all(star(3, {}), {reduce_to_first()})) == 3);
    CHECK(optimum(on_all(star(3, {.reduce = true}), {reduce_to_first()})) == 2);
}

TEST_CASE("a cut-through switch pays the slowest beta once") {
    for (const bool cut : {false, true}) {
        Net net(2);
        const auto hub = net.add_switch({.cut_through = cut});
        net.link(0, hub, 1, 3).link(hub, 1, 1, 1);
        CHECK(optimum(on_all(net, {broadcast(1)})) == (cut ? 5 : 6));
    }
}

TEST_CASE("the link into a cut-through switch is busy as long as the slow link out of it") {
    for (const bool one_in_flight : {false, true}) {
        Net net(2);
        const auto hub = net.add_switch({.cut_through = true});
        net.link(0, hub, 1, 1).link(hub, 1, 1, 3);
        if (one_in_flight) net.one_in_flight();
        CHECK(optimum(on_all(net, {broadcast(2)})) == (one_in_flight ? 9 : 8));
    }
}

TEST_CASE("a slow onward link keeps the shared link into two cut-through switches busy") {
    Net net(3);
    const auto first = net.add_switch({.cut_through = true});
    const auto second = net.add_switch({.cut_through = true});
    // What goes to NPU 1 holds the first link for 3 ticks, although beta is paid only on the last.
    net.link(0, first, 2).link(first, second, 0).link(second, 1, 0, 3).link(second, 2, 0, 1);
    Collective chunks = custom({0}, {1});
    chunks.demands.push_back({nodes({0}), nodes({2}), false, {}});
    CHECK(optimum(on_all(net, {chunks})) == 6);
    chunks.demands.push_back(chunks.demands.front());
    CHECK(optimum(on_all(net, {chunks})) == 9);
}

TEST_CASE("a cut-through switch multicasts and reduces in passing") {
    const Collective sum = custom({0, 1, 2}, {0, 1, 2}, true);
    CHECK(optimum(on_all(star(3, {.cut_through = true}), {broadcast(1)})) == 2);
    CHECK(optimum(on_all(star(3, {.copy = true, .cut_through = true}), {broadcast(1)})) == 1);
    CHECK(optimum(on_all(star(3, {.cut_through = true}), {reduce_to_first()})) == 2);
    CHECK(optimum(on_all(star(3, {.reduce = true, .cut_through = true}), {reduce_to_first()})) == 1);
    CHECK(optimum(on_all(star(3, {.copy = true, .reduce = true, .cut_through = true}), {sum})) == 1);
}

TEST_CASE("a copy that waits for a second link takes a place in the buffer") {
    const auto with_buffer = [](std::optional<std::uint32_t> buffer) {
        Net net(4);
        const auto hub = net.add_switch({.copy = true, .buffer = buffer});
        // The link to NPU 2 is still busy with the first chunk when the second comes.
        net.link(0, hub, 0, 2).link(hub, 1, 0, 1).link(hub, 2, 0, 3).link(1, 3, 2, 1);
        return optimum(on_all(net, {broadcast(2)}));
    };
    CHECK(with_buffer({}) == 8);
    CHECK(with_buffer(1) == 8);
    CHECK(with_buffer(0) == 9);
}

TEST_CASE("a switch without a buffer sums only what comes at once") {
    Net net(3);
    const auto hub = net.add_switch({.reduce = true, .buffer = 0});
    net.link(1, hub, 0, 1).link(2, hub, 0, 2).link(hub, 0);
    CHECK(optimum(on_all(net, {custom({1, 2}, {0}, true)})) == 3);
}

TEST_CASE("chunks of different sizes take different times") {
    TopologyParts parts;
    parts.npus = 2;
    parts.links.push_back({NodeId(0), NodeId(1), {Ticks(1), {}, {1000, 0}}});
    Collective chunks = custom({0}, {1});
    chunks.demands.push_back(chunks.demands.front());
    chunks.demands[0].bytes = Bytes{1};
    chunks.demands[1].bytes = Bytes{4};
    const Instance instance(InstanceParts{"sizes", parts, {{"all", nodes({0, 1})}}, {chunks}});
    CHECK(optimum(instance) == 6);
}

TEST_CASE("a brute force that reaches its work limit proves nothing") {
    const Instance instance = on_all(ring(4, 1), {collective(CollectiveKind::AllGather)});
    const auto result = brute_force_optimum(instance, Ticks(12), 10);
    CHECK(result.answer == BruteForceAnswer::WorkLimit);
    CHECK_FALSE(result.optimum);
    CHECK(result.proven <= Ticks(4));
}

TEST_CASE("the brute force agrees with optima proven by others") {
    std::size_t in_reach = 0;
    for (const auto& [instance, proven, seconds_of_others] : proven_optima()) {
        if (instance.chunks() > 16 || instance.topology().links().size() > 16) continue;
        const auto result = brute_force_optimum(instance, Ticks(30), 20'000);
        CAPTURE(instance.name());
        CHECK(result.proven <= proven);
        if (result.answer == BruteForceAnswer::WorkLimit) continue;
        CHECK(result.optimum == proven);
        ++in_reach;
        CHECK(broken(instance, result.schedule).empty());
    }
    CHECK(in_reach >= 12);
}

TEST_CASE("on tiny random instances the optimum is valid, above the bounds and not above greedy") {
    std::uint64_t finished = 0, all = 0, better_than_greedy = 0;
    for_seeds(cases(200), [&](Rng& rng, std::uint64_t) {
        const Instance instance = tiny_instance(rng);
        const auto result = brute_force_optimum(instance, Ticks(30), kWork / 2);
        ++all;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        INFO(json_of(instance));
        if (schedule) CHECK(result.proven <= schedule->makespan);
        if (result.answer == BruteForceAnswer::WorkLimit) return;
        ++finished;
        if (schedule) REQUIRE(result.optimum);
        if (!result.optimum) return;
        if (schedule && *result.optimum < schedule->makespan) ++better_than_greedy;
        INFO(text_of(instance, result.schedule));
        CHECK(broken(instance, result.schedule).empty());
        CHECK(true_makespan(instance, result.schedule) == result.optimum->count());
        CHECK(bounds::simple_bounds(instance).front().value <= *result.optimum);
    });
    CHECK(finished * 10 >= all * 8);
    CHECK(better_than_greedy * 20 >= all);
}

TEST_CASE("pruning of dominated moves changes no optimum") {
    std::uint64_t compared = 0, all = 0;
    for_seeds(cases(200), [&](Rng& rng, std::uint64_t) {
        const Instance instance = tiny_instance(rng);
        const auto quick = brute_force_optimum(instance, Ticks(10), 20'000);
        const auto slow = brute_force_optimum(instance, Ticks(10), 20'000, Shortcuts::None);
        INFO(json_of(instance));
        ++all;
        if (quick.optimum) CHECK(slow.proven <= *quick.optimum);
        if (slow.answer == BruteForceAnswer::WorkLimit) return;
        CHECK(quick.proven <= slow.proven);
        if (quick.answer == BruteForceAnswer::WorkLimit) return;
        CHECK(quick.optimum == slow.optimum);
        ++compared;
    });
    CHECK(compared * 2 >= all);
}

TEST_SUITE_END();
