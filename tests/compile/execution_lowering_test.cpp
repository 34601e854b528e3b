// Schedules become execution plans that the verifier accepts, without a warning, under the executor's limits,
// and that read back as they were written.

#include "compile/execution_lowering.hpp"
#include "core/generators/cluster.hpp"
#include "core/generators/dgx.hpp"
#include "core/generators/full.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"
#include "heuristics/greedy.hpp"
#include "io/mscclpp_json.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace tutti;
using namespace tutti::compile;
using plan::ChannelType;
using plan::OperationType;

constexpr CollectiveKind kKinds[]{CollectiveKind::AllReduce, CollectiveKind::AllGather,
                                  CollectiveKind::ReduceScatter, CollectiveKind::AllToAll};

Schedule synthesized(const Instance& instance, std::uint64_t seed = 1) {
    auto schedule = heuristics::greedy(instance, {.seed = seed});
    REQUIRE(schedule);
    REQUIRE(verify::verify(instance, *schedule).valid());
    return std::move(*schedule);
}

Instance instance_of(const TopologyParts& parts, CollectiveKind kind, std::uint64_t chunks) {
    Group all{"all", {}};
    for (std::size_t n = 0; n < parts.npus; ++n) all.members.emplace_back(n);
    Collective collective = test::collective(kind);
    collective.chunks = chunks;
    collective.forwarding = Forwarding::Group;
    return Instance({"case", parts, {all}, {collective}});
}

/// The executor divides a rank's buffers by its chunks, so relays have as many as others, and use none.
void check_relays(const ExecutionResult& result) {
    CHECK(result.condition.has_value() == (result.npus.size() > result.members));
    for (std::size_t r = result.members; r < result.npus.size(); ++r) {
        const plan::ExecutionGpu& relay = result.plan.gpus[r];
        CHECK(result.plan.collective == "custom");
        CHECK(relay.input_chunks == result.plan.gpus[0].input_chunks);
        CHECK(relay.output_chunks == result.plan.gpus[0].output_chunks);
        CHECK(result.condition->inputs.at(Rank(r)).empty());
        CHECK_FALSE(result.condition->outputs.contains(Rank(r)));
    }
}

plan::ExecutionPlan checked(const Instance& instance, const Schedule& schedule,
                            const ExecutionOptions& options, CollectiveId collective = CollectiveId(0)) {
    ExecutionResult result = lower_to_execution_plan(instance, schedule, collective, options);
    check_relays(result);
    plan::ExecutionPlan plan = std::move(result.plan);
    io::Source source = io::Source::of_text(io::mscclpp_json_text(plan), "plan.json");
    CHECK(io::read_mscclpp_json(source) == plan);
    verify::PlanReading reading;
    reading.target = plan::Target::Mscclpp;
    reading.condition = result.condition;
    const plan::PlanVerdict verdict = verify::verify(plan, reading);
    INFO("violation: ", verdict.violations.empty() ? "" : verdict.violations[0].message);
    INFO("warning: ", verdict.warnings.empty() ? "" : verdict.warnings[0].message);
    REQUIRE(verdict.verdict == plan::PlanClass::Valid);
    REQUIRE(verdict.warning_count == 0);
    return plan;
}

std::size_t count_of(const plan::ExecutionPlan& plan, OperationType type) {
    std::size_t count = 0;
    for (const auto& gpu : plan.gpus) {
        for (const auto& block : gpu.blocks) {
            count += static_cast<std::size_t>(std::ranges::count(block.ops, type, &plan::Operation::type));
        }
    }
    return count;
}

/// How often semaphores are released, or acquired.
std::size_t semaphores_of(const plan::ExecutionPlan& plan, OperationType type) {
    std::size_t count = 0;
    plan::for_each_operation(plan, [&](const plan::Operation& op) {
        if (op.type == type) count += op.semaphores.size();
    });
    return count;
}

std::string refusal(const Instance& instance, const Schedule& schedule,
                    const ExecutionOptions& options = {}) {
    try {
        (void)lower_to_execution_plan(instance, schedule, CollectiveId(0), options);
    } catch (const InputError& error) {
        return error.message();
    }
    return "";
}

}  // namespace

TEST_CASE("execution plans of all kinds on several networks are valid in place and out of place") {
    const Wire wire{Ticks(3), Ticks(2), {}};
    const Wire fast{Ticks(0), Ticks(1), {}};
    const std::vector<Wire> wires{wire};
    const std::vector<std::uint64_t> mesh{2, 3}, torus{3, 3};
    generators::Cluster cluster;
    cluster.node = generators::fully_connected(3, fast);
    cluster.nodes = 2;
    cluster.network = generators::star(2, wire);
    const std::vector<TopologyParts> networks{generators::ring(5, wire),
                                              generators::mesh(mesh, wires),
                                              generators::torus(torus, wires),
                                              generators::fully_connected(4, fast),
                                              generators::dgx1(fast),
                                              generators::star(4, wire),
                                              generators::star(4, wire, {.cut_through = true}),
                                              generators::cluster(cluster)};
    for (std::size_t network = 0; network < networks.size(); ++network) {
        for (const CollectiveKind kind : kKinds) {
            for (std::uint64_t chunks = 1; chunks <= 3; chunks += 2) {
                INFO("network ", network, " ", name_of(kind), " ", chunks);
                const Instance instance = instance_of(networks[network], kind, chunks);
                const Schedule schedule = synthesized(instance);
                for (const bool in_place : {true, false}) {
                    for (const ChannelType channel : {ChannelType::Memory, ChannelType::Port}) {
                        const auto plan =
                            checked(instance, schedule, {.in_place = in_place, .channel = channel});
                        CHECK(plan.in_place == in_place);
                    }
                }
            }
        }
    }
}

TEST_CASE("an execution plan has the name, sizes and mode that were asked for") {
    const Instance instance =
        instance_of(generators::ring(3, Wire{Ticks(1), Ticks(1), {}}), CollectiveKind::ReduceScatter, 2);
    const Schedule schedule = synthesized(instance);
    const plan::ExecutionPlan plain = checked(instance, schedule, {});
    CHECK(plain.collective == "reducescatter");
    CHECK(plain.in_place);
    CHECK(plain.name == "case c");
    CHECK(plain.gpus[0].input_chunks == 6);
    CHECK(plain.gpus[0].output_chunks == 2);
    const plan::ExecutionPlan made =
        checked(instance, schedule, {.in_place = false, .min_bytes = 10, .max_bytes = 20, .name = "mine"});
    CHECK(made.name == "mine");
    CHECK(made.min_bytes == 10);
    CHECK(made.max_bytes == 20);
    CHECK_FALSE(made.in_place);
    const Instance exchange =
        instance_of(generators::ring(3, Wire{Ticks(1), Ticks(1), {}}), CollectiveKind::AllToAll, 1);
    CHECK_FALSE(checked(exchange, synthesized(exchange), {}).in_place);
}

TEST_CASE("chunks that take the same paths are moved together") {
    Collective collective = test::collective(CollectiveKind::AllGather);
    collective.chunks = 3;
    // Rank 0 sends its chunks to 1 and 2, each in its own order; 1 and 2 send theirs by way of 0.
    test::Net net(3);
    net.both(0, 1).both(0, 2);
    const Instance instance = test::on_all(net, {collective});
    const auto puts = [&](std::initializer_list<Send> own, std::int64_t makespan) {
        std::vector<Send> sends(own);
        for (std::size_t k = 0; k < 3; ++k) {
            const auto at = static_cast<std::int64_t>(k);
            sends.push_back(test::copy(3 + k, 1, at));
            sends.push_back(test::copy(3 + k, 2, 3 + at));
            sends.push_back(test::copy(6 + k, 3, at));
            sends.push_back(test::copy(6 + k, 0, 3 + at));
        }
        std::ranges::sort(sends, {}, [](const Send& send) { return send.start; });
        const Schedule schedule = test::schedule(makespan, sends);
        REQUIRE(verify::verify(instance, schedule).valid());
        return count_of(checked(instance, schedule, {}), OperationType::Put);
    };
    using test::copy;
    CHECK(puts({copy(0, 0, 0), copy(1, 0, 1), copy(2, 0, 2), copy(1, 2, 0), copy(0, 2, 1), copy(2, 2, 2)},
               6) == 6);
}

TEST_CASE("results that come back are put where they belong, without a copy") {
    const Instance instance =
        instance_of(generators::ring(4, Wire{Ticks(1), Ticks(1), {}}), CollectiveKind::AllReduce, 1);
    const plan::ExecutionPlan plan = checked(instance, synthesized(instance), {});
    CHECK(count_of(plan, OperationType::Copy) == 0);
    // Out of place a rank's own share is copied only where nothing is added to it.
    const Instance gather =
        instance_of(generators::ring(4, Wire{Ticks(1), Ticks(1), {}}), CollectiveKind::AllGather, 2);
    CHECK(count_of(checked(gather, synthesized(gather), {.in_place = false}), OperationType::Copy) == 4);
    CHECK(count_of(checked(gather, synthesized(gather), {}), OperationType::Copy) == 0);
}

TEST_CASE("a rank with more messages than a thread block can have continues in another one") {
    // Everything passes rank 0.
    test::Net net(20);
    for (std::size_t leaf = 1; leaf < 20; ++leaf) net.both(0, leaf);
    const Instance instance = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
    const plan::ExecutionPlan plan = checked(instance, synthesized(instance), {});
    CHECK(semaphores_of(plan, OperationType::SemRelease) > 0);
    CHECK(semaphores_of(plan, OperationType::SemRelease) == semaphores_of(plan, OperationType::SemAcquire));
    for (const auto& gpu : plan.gpus) CHECK(gpu.blocks.size() <= kMostExecutionBlocks);
}

TEST_CASE("connections share thread blocks where a rank has more of them than can run") {
    // 90 ranks around a switch: 89 connections in, 89 out.
    const Instance instance =
        instance_of(generators::star(90, Wire{Ticks(1), Ticks(1), {}}), CollectiveKind::AllToAll, 1);
    const plan::ExecutionPlan plan = checked(instance, synthesized(instance), {});
    for (const auto& gpu : plan.gpus) CHECK(gpu.blocks.size() <= kMostExecutionBlocks);
}

TEST_CASE("schedules that an execution plan cannot express are refused with the reason") {
    const Instance broadcast = [] {
        Collective collective = test::collective(CollectiveKind::Broadcast);
        collective.root = Rank(0);
        return test::on_all(test::line(2), {collective});
    }();
    CHECK(refusal(broadcast, test::schedule(1, {test::copy(0, 0, 0)})).find("'broadcast' is none of them") !=
          std::string::npos);
    const Instance gather = test::on_all(test::line(2), {test::collective(CollectiveKind::AllGather)});
    const Schedule schedule = test::schedule(1, {test::copy(0, 0, 0), test::copy(1, 1, 0)});
    CHECK(refusal(gather, schedule).empty());
    CHECK(refusal(gather, schedule, {.channel = ChannelType::Switch}).find("switch") != std::string::npos);

    test::Net net(50);
    for (std::size_t leaf = 1; leaf < 50; ++leaf) net.both(0, leaf);
    const Instance star = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
    CHECK(refusal(star, synthesized(star)).find("thread blocks on rank 0") != std::string::npos);
}

TEST_CASE("execution plans of random instances are valid, or refused with a reason") {
    std::size_t plans = 0, relayed = 0, refused = 0;
    const std::uint64_t count = test::cases(250);
    test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const Instance instance(test::random_instance(rng));
        if (!test::is_feasible(instance)) return;
        INFO(test::json_of(instance));
        const Schedule schedule = synthesized(instance, seed);
        for (std::size_t c = 0; c < instance.collectives().size(); ++c) {
            ExecutionOptions options;
            if (rng.below(3) > 0) options.in_place = rng.below(2) == 0;
            options.channel = rng.below(2) == 0 ? ChannelType::Memory : ChannelType::Port;
            try {
                const auto plan = checked(instance, schedule, options, CollectiveId(c));
                ++plans;
                if (plan.collective == "custom") ++relayed;
            } catch (const InputError& error) {
                const std::string text = error.what();
                INFO(text);
                const bool known =
                    text.find("with relays only") != text.npos || text.find("a switch copies") != text.npos ||
                    text.find("a switch reduces") != text.npos || text.find("of one size") != text.npos ||
                    text.find("is none of them") != text.npos;
                CHECK(known);
                ++refused;
            }
        }
    });
    CHECK(plans > count / 12);
    CHECK(relayed > count / 50);
    CHECK(refused > count / 12);
}
