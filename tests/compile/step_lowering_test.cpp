#include "compile/step_lowering.hpp"

#include "core/rng.hpp"
#include "heuristics/greedy.hpp"
#include "io/sccl_json.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace {

using namespace tutti;
using namespace tutti::test;
using compile::lower_to_steps;
using plan::NodeSend;
using plan::ScclPlan;
using plan::SendChunk;

Collective second(Collective collective) {
    collective.id = "second";
    return collective;
}

std::string refusal(const Instance& instance, const Schedule& schedule) {
    try {
        (void)lower_to_steps(instance, schedule);
    } catch (const InputError& error) {
        return error.message();
    }
    return "";
}

/// step: address source>destination …
std::string text_of(const ScclPlan& plan) {
    std::string text;
    for (const NodeSend& send : plan.sends) {
        if (send.position == 0) text += (text.empty() ? "" : "; ") + std::to_string(send.list) + ":";
        text += " " + std::to_string(send.address) + " " + std::to_string(send.src.value()) + ">" +
                std::to_string(send.dst.value());
    }
    return text;
}

/// Written, read back, and judged.
ScclPlan round_trip(const ScclPlan& plan) {
    io::Source source = io::Source::of_text(io::sccl_json_text(plan), "written");
    return io::read_sccl_json(source);
}

}  // namespace

TEST_CASE("a step is closed before the tick that reads what arrived in it") {
    const Instance instance = on_all(line(3), {custom({0}, {2}), second(custom({0}, {2}))});
    const Schedule pipelined = schedule(3, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 2, 1), copy(1, 2, 2)});
    const ScclPlan plan = lower_to_steps(instance, pipelined);
    CHECK(text_of(plan) == "0: 0 0>1; 1: 0 1>2 1 0>1; 2: 1 1>2");
    CHECK(plan.rounds == std::vector<std::int64_t>{1, 1, 1});
    CHECK(told(plan) == "valid");
    // What nothing waits for stays in one step, with as many rounds as its link needs.
    const ScclPlan both =
        lower_to_steps(instance, schedule(4, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 2, 2), copy(1, 2, 3)}));
    CHECK(text_of(both) == "0: 0 0>1 1 0>1; 1: 0 1>2 1 1>2");
    CHECK(both.rounds == std::vector<std::int64_t>{2, 2});
    CHECK(both.extra_rounds == 2);
}

TEST_CASE("demands become chunks, contributions share an address") {
    const Instance instance = on_all(line(3), {custom({0, 2}, {1}, true), second(custom({1}, {0, 2}))});
    const ScclPlan plan = lower_to_steps(
        instance, schedule(1, {reduce(0, 0, 0), reduce(0, 3, 0), copy(1, 1, 0), copy(1, 2, 0)}));
    CHECK(plan.chunks ==
          std::vector<SendChunk>{{{0_n}, {1_n}, 0}, {{2_n}, {1_n}, 0}, {{1_n}, {0_n, 2_n}, 1}});
    CHECK(plan.runtime == "custom");
    CHECK(told(plan) == "valid");
    CHECK(round_trip(plan) == plan);
}

TEST_CASE("an all-to-all has blocks for all pairs, those that stay included") {
    const Instance instance = on_all(line(2), {collective(CollectiveKind::AllToAll)});
    const ScclPlan plan = lower_to_steps(instance, schedule(1, {copy(0, 0, 0), copy(1, 1, 0)}));
    CHECK(plan.chunks ==
          std::vector<SendChunk>{{{0_n}, {0_n}, 0}, {{0_n}, {1_n}, 1}, {{1_n}, {0_n}, 2}, {{1_n}, {1_n}, 3}});
    CHECK(plan.runtime == "alltoall");
    CHECK(text_of(plan) == "0: 1 0>1 2 1>0");
    CHECK(told(plan, as(CollectiveKind::AllToAll)) == "valid");
}

TEST_CASE("sends through switches that only forward go from NPU to NPU, and ports are limits") {
    const Instance instance = on_all(star(3, {}), {collective(CollectiveKind::AllGather)});
    // Link 2i leads from NPU i to the switch, link 2i+1 back; each chunk passes twice.
    const Schedule schedule = test::schedule(
        5, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 0, 1), copy(0, 5, 2), copy(1, 2, 0), copy(1, 1, 1),
            copy(1, 2, 1), copy(1, 5, 3), copy(2, 4, 0), copy(2, 1, 2), copy(2, 4, 1), copy(2, 3, 2)});
    const ScclPlan plan = lower_to_steps(instance, schedule);
    CHECK(text_of(plan) == "0: 0 0>1 1 1>0 2 2>0 0 0>2 1 1>2 2 2>1");
    CHECK(plan.rounds == std::vector<std::int64_t>{2});
    CHECK(plan.links.size() == 6);
    REQUIRE(plan.switches.size() == 6);
    CHECK(plan.switches[0] == plan::ScclSwitch{{0_n}, {1_n, 2_n}, 1, "out of 0"});
    CHECK(plan.switches[3] == plan::ScclSwitch{{1_n, 2_n}, {0_n}, 1, "into 0"});
    CHECK(told(plan) == "valid");
    CHECK(round_trip(plan) == plan);
}

TEST_CASE("faster and parallel links carry more in a round") {
    Net net(2);
    net.link(0, 1, 0, 2).link(0, 1, 0, 6).link(1, 0, 5, 6);
    const Instance instance = on_all(net, {custom({0}, {1})});
    const ScclPlan plan = lower_to_steps(instance, schedule(2, {copy(0, 0, 0)}));
    CHECK(plan.links == std::vector<plan::ScclLink>{{0_n, 1_n, 4, 0, 0}, {1_n, 0_n, 1, 0, 0}});
}

TEST_CASE("a chunk that is brought where it is already is left out") {
    const Instance instance = on_all(line(2), {custom({0}, {1})});
    const ScclPlan plan =
        lower_to_steps(instance, schedule(3, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 0, 2)}));
    CHECK(text_of(plan) == "0: 0 0>1");
}

TEST_CASE("an exchange of partial sums stays in one step") {
    const Instance instance = on_all(line(2), {custom({0, 1}, {0, 1}, true)});
    const ScclPlan plan = lower_to_steps(instance, schedule(1, {reduce(0, 0, 0), reduce(0, 1, 0)}));
    CHECK(plan.clock == plan::SendClock::Steps);
    CHECK(text_of(plan) == "0: 0 0>1 0 1>0");
    CHECK(told(plan) == "valid");
}

TEST_CASE("a sum in flight does not affect what its receiver sends before it arrives") {
    // 0 sends its own to 1 over a slow link. 1 passes on what 2 sent it before that arrives, then all the
    // rest.
    Net net(4);
    net.link(0, 1, 9, 1).link(2, 1, 0, 1).link(1, 3, 0, 1).link(0, 3, 0, 1);
    const Instance instance = on_all(net, {custom({0, 2}, {1, 3}, true)});
    // At 0: 0 -> 1 (arrives at 10), 2 -> 1 (at 1); at 1: 1 -> 3 with that of 2 only; at 2: 0 -> 3.
    const ScclPlan plan = lower_to_steps(
        instance, schedule(10, {reduce(0, 0, 0), reduce(0, 1, 0), reduce(0, 2, 1), reduce(0, 3, 2)}));
    CHECK(text_of(plan) == "0: 0 2>1; 1: 0 0>1 0 1>3 0 0>3");
    CHECK(told(plan) == "valid");
}

TEST_CASE("where complete sums replace partial ones the plan has times and operations") {
    const Instance instance = on_all(line(2), {custom({0, 1}, {0, 1}, true)});
    const ScclPlan plan = lower_to_steps(instance, schedule(2, {reduce(0, 0, 0), copy(0, 1, 1)}));
    CHECK(plan.clock == plan::SendClock::Times);
    REQUIRE(plan.sends.size() == 2);
    CHECK_FALSE(plan.sends[0].replaces);
    CHECK(plan.sends[1].replaces);
    CHECK(plan.sends[1].when == 10);
    const auto verdict = judged(plan);
    CHECK(told(verdict) == "valid");
    CHECK(warned(verdict) == "");
    CHECK(verdict.own_cost == "2.0 us");
    CHECK(round_trip(plan) == plan);
}

TEST_CASE("with times, contributions come to a sum one step after the other") {
    Net net(3);
    net.link(0, 2).link(1, 2).link(2, 0).link(2, 1);
    const Instance instance = on_all(net, {custom({0, 1, 2}, {0, 1, 2}, true)});
    const ScclPlan plan = lower_to_steps(
        instance, schedule(2, {reduce(0, 0, 0), reduce(0, 1, 0), copy(0, 2, 1), copy(0, 3, 1)}));
    CHECK(text_of(plan) == "0: 0 0>2; 1: 0 1>2; 2: 0 2>0 0 2>1");
    CHECK(warned(judged(plan)) == "");
    // Without anything to replace they may come together: msccl-tools adds them in turn.
    const Instance reduction = on_all(net, {custom({0, 1, 2}, {2}, true)});
    CHECK(text_of(lower_to_steps(reduction, schedule(1, {reduce(0, 0, 0), reduce(0, 1, 0)}))) ==
          "0: 0 0>2 0 1>2");
}

TEST_CASE("schedules that steps cannot express are refused with the reason") {
    Collective late = custom({0}, {1});
    late.release = Ticks(3);
    CHECK(refusal(on_all(line(2), {late}), schedule(4, {copy(0, 0, 3)})).find("released at tick 3") !=
          std::string::npos);
    Collective large = custom({0}, {1});
    large.chunk_bytes = Bytes{7};
    CHECK(refusal(on_all(line(2), {custom({0}, {1}), second(large)}),
                  schedule(2, {copy(0, 0, 0), copy(1, 0, 1)}))
              .find("different sizes") != std::string::npos);
    const Instance multicast = on_all(star(3, {.copy = true}), {custom({0}, {1, 2})});
    CHECK(refusal(multicast, schedule(2, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 1)})).find("switch 3") !=
          std::string::npos);
    Net wide(compile::kMostStepNpus + 1);
    wide.link(0, 1);
    CHECK(refusal(on_all(wide, {custom({0}, {1})}), schedule(1, {copy(0, 0, 0)})).find("at most 2048") !=
          std::string::npos);
}

TEST_CASE("schedules of every kind are written as steps, read back and found valid") {
    constexpr std::uint64_t kSeeds = 400;
    std::map<CollectiveKind, int> written;
    int timed = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        InstanceOptions options;
        options.max_collectives = 1;
        options.releases = false;
        InstanceParts parts = random_instance(rng, options);
        for (Collective& each : parts.collectives) {
            for (CustomDemand& demand : each.demands) demand.bytes = Bytes{64};
        }
        for (SwitchRule& rule : parts.topology.switches) rule.copy = rule.reduce = false;
        const Instance instance(parts);
        if (!is_feasible(instance)) continue;
        const auto solution = heuristics::greedy(instance, {.seed = seed});
        if (!solution) continue;
        ScclPlan plan;
        try {
            plan = lower_to_steps(instance, *solution);
        } catch (const InputError& error) {
            CAPTURE(error.message());
            CHECK(error.message().find("no steps can say") != std::string::npos);
            ++refused;
            continue;
        }
        CHECK(round_trip(plan) == plan);
        const auto verdict = judged(plan);
        if (plan.clock == plan::SendClock::Times) CHECK(warned(verdict) == "");
        if (told(verdict) != "valid")
            FAIL(told(verdict), " ", verdict.violations[0].message, "\n", json_of(instance));
        ++written[instance.collectives()[0].kind];
        timed += plan.clock == plan::SendClock::Times ? 1 : 0;
    }
    for (const auto kind : {CollectiveKind::Broadcast, CollectiveKind::Scatter, CollectiveKind::Gather,
                            CollectiveKind::Reduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
                            CollectiveKind::AllReduce, CollectiveKind::AllToAll, CollectiveKind::AllToAllV,
                            CollectiveKind::AllToNext, CollectiveKind::Permute, CollectiveKind::Custom}) {
        INFO(name_of(kind));
        CHECK(written[kind] > 3);
    }
    CHECK(timed > 3);
    CHECK(refused <= 4);
}
