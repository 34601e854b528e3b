// What the synthesizer owes on any instance: a schedule that both checkers accept, a bound that is one, the
// same answer to the same seed, and a refusal exactly when somebody cannot be reached.

#include "synth/synthesize.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

using namespace tutti;
using namespace tutti::test;

namespace {

synth::Result synthesize(const Instance& instance, std::uint64_t seed) {
    synth::Request request;
    request.method = "greedy";  // exact methods: optimum_test.cpp
    request.method = "greedy";
    request.seed = seed;
    return synth::synthesize(instance, request);
}

/// What is wrong with a result; empty if nothing is.
std::string fault_of(const Instance& instance, const synth::Result& result) {
    const Opinions opinions = opinions_on(instance, result.schedule);
    if (!opinions.agree() || !opinions.second.empty()) {
        return "the schedule is not valid: " + opinions.text() + "\n" + text_of(instance, result.schedule);
    }
    const Ticks makespan = result.schedule.makespan;
    if (makespan < result.bound.value) {
        return fmt::format("makespan {} is below the {} bound {}\n{}", makespan.count(), result.bound.kind,
                           result.bound.value.count(), text_of(instance, result.schedule));
    }
    const Status expected = makespan == result.bound.value ? Status::Optimal : Status::Feasible;
    if (result.status != expected) return fmt::format("status {}", name_of(result.status));
    return {};
}

/// What is wrong with the synthesizer's answer; empty if nothing is.
std::string fault_on(const Instance& instance, std::uint64_t seed) {
    try {
        const synth::Result result = synthesize(instance, seed);
        if (!is_feasible(instance)) return "a schedule, although somebody cannot be reached";
        if (auto fault = fault_of(instance, result); !fault.empty()) return fault;
        const synth::Result again = synthesize(instance, seed);
        if (again.schedule.sends != result.schedule.sends ||
            again.schedule.makespan != result.schedule.makespan) {
            return "the same seed gave another schedule";
        }
        return {};
    } catch (const InfeasibleError& error) {
        if (is_feasible(instance))
            return fmt::format("refused, although everybody can be reached: {}", error.what());
        return {};
    } catch (const std::exception& error) {
        return fmt::format("an exception: {}", error.what());
    }
}

/// Checks one instance; a fault is shown on the smallest instance that still has one.
void check(const InstanceParts& parts, std::uint64_t seed) {
    if (fault_on(Instance(parts), seed).empty()) return;
    const Instance small(
        shrunk(parts, [&](const Instance& candidate) { return !fault_on(candidate, seed).empty(); }));
    FAIL(fault_on(small, seed) << "\n" << json_of(small));
}

/// Checks an instance that made trouble once, over many seeds.
void check_again(const Instance& instance) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const std::string fault = fault_on(instance, seed);
        REQUIRE_MESSAGE(fault.empty(), "seed " << seed << ": " << fault);
    }
}

const SwitchRule kCrossbar{.copy = false, .reduce = false, .cut_through = true, .buffer = {}};

}  // namespace

TEST_CASE("a reduction that is complete from the start needs no time, whatever its release") {
    for (const CollectiveKind kind :
         {CollectiveKind::Reduce, CollectiveKind::AllReduce, CollectiveKind::ReduceScatter}) {
        Collective alone = collective(kind);
        alone.release = Ticks(9);
        check_again(on_group(line(2), {0}, {alone}));
    }
}

TEST_CASE("a sum is made where it can reach all its receivers") {
    // NPU 0 gets but cannot give; so the sum for 0 and 2 cannot be made at 0.
    Net net(3);
    const std::size_t hub = net.add_switch();
    net.link(2, 1).link(1, hub).link(hub, 2).link(hub, 0);
    check_again(on_all(net, {custom({1, 2}, {0, 2}, true)}));
}

TEST_CASE("a sum is made for receivers that no single NPU can reach with all of it") {
    check_again(on_all(Net(4).link(0, 2).link(0, 3).link(1, 2).link(1, 3), {custom({0, 1}, {2, 3}, true)}));
}

TEST_CASE("a chunk that passes a crossbar twice at one tick goes where it should") {
    Net net(3);
    const std::size_t hub = net.add_switch(kCrossbar);
    net.link(0, 1, 4, 2).link(hub, 0).link(1, hub, 1, 6).link(hub, 2).link(2, 1, 4, 1).link(1, hub, 1, 5);
    check_again(on_all(net, {collective(CollectiveKind::AllGather)}));
}

TEST_CASE("contributions that pass a crossbar at one tick are not mixed up") {
    Net net(6);
    const std::size_t hub = net.add_switch(kCrossbar);
    net.link(hub, 3).link(4, hub, 5, 5).link(hub, 5).link(3, 5).link(2, hub, 5, 1).link(1, 3).link(0, 1);
    Collective sum = collective(CollectiveKind::Reduce);
    sum.root = Rank(5);
    sum.chunks = 4;
    check_again(on_all(net, {sum}));
}

TEST_CASE("contributions that pass a reducing switch of small buffer at one tick do not race") {
    Net net(4);
    const std::size_t adder =
        net.add_switch({.copy = false, .reduce = true, .cut_through = false, .buffer = {}});
    const std::size_t narrow =
        net.add_switch({.copy = false, .reduce = true, .cut_through = false, .buffer = 0});
    net.one_in_flight();
    net.link(narrow, 2, 0, 30).link(0, narrow, 0, 1).link(adder, 3, 0, 1).link(narrow, 2, 10, 12);
    net.link(narrow, adder, 10, 12).link(2, adder, 0, 1).link(1, narrow, 10, 12);
    Collective sum = collective(CollectiveKind::Reduce);
    sum.root = Rank(3);
    sum.chunks = 2;
    check_again(on_all(net, {sum}));
}

TEST_CASE("what greedy makes is valid and no better than its bound") {
    for_seeds(cases(500), [](Rng& rng, std::uint64_t seed) { check(random_instance(rng), seed); });
}

TEST_CASE("what greedy makes is valid on networks with many switches") {
    const InstanceOptions options{.max_npus = 4, .max_switches = 6, .max_collectives = 2};
    for_seeds(cases(400), [&](Rng& rng, std::uint64_t seed) { check(random_instance(rng, options), seed); });
}

TEST_CASE("what greedy makes is valid when many collectives share the links") {
    const InstanceOptions options{.max_npus = 6, .max_switches = 2, .max_collectives = 8, .max_chunks = 4};
    for_seeds(cases(150), [&](Rng& rng, std::uint64_t seed) { check(random_instance(rng, options), seed); });
}

TEST_CASE("greedy fails exactly when a receiver cannot be reached") {
    const InstanceOptions options{.max_npus = 5, .max_switches = 2, .strongly_connected = false};
    std::uint64_t feasible = 0;
    const std::uint64_t count = cases(800);
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const InstanceParts parts = random_instance(rng, options);
        if (is_feasible(Instance(parts))) ++feasible;
        check(parts, seed);
    });
    CHECK(feasible >= count / 20);
    CHECK(feasible <= count - count / 20);
}

TEST_CASE("random instances hold every kind of collective and switch") {
    std::set<CollectiveKind> kinds;
    std::set<std::tuple<bool, bool, bool, std::optional<std::uint32_t>>> rules;
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
        Rng rng(seed);
        const InstanceParts parts = random_instance(rng);
        for (const Collective& collective : parts.collectives) kinds.insert(collective.kind);
        for (const SwitchRule& rule : parts.topology.switches) {
            rules.emplace(rule.copy, rule.reduce, rule.cut_through, rule.buffer);
        }
    }
    CHECK(kinds.size() == 12);
    CHECK(rules.size() == 2 * 2 * 2 * 5);
}
