#include "core/generators/ring.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/send_plans.hpp"
#include "timing/plan_timing.hpp"
#include "timing/send_tasks.hpp"

#include <doctest/doctest.h>

namespace tutti::timing {
namespace {

using plan::NodeSend;
using plan::ScclPlan;
using plan::SendClock;
using test::operator""_n;
using test::Net;

NodeSend send(std::int64_t address, std::int32_t src, std::int32_t dst, std::int64_t when,
              std::int32_t list = 0) {
    NodeSend made;
    made.address = address;
    made.src = test::id<plan::PlanNode>(src);
    made.dst = test::id<plan::PlanNode>(dst);
    made.when = when;
    made.list = list;
    return made;
}

ScclPlan empty(SendClock clock, std::int32_t nodes) {
    ScclPlan plan;
    plan.clock = clock;
    plan.nodes = nodes;
    return plan;
}

/// Everybody's chunk goes round the ring, a hop per step.
ScclPlan ring_steps(std::int32_t nodes) {
    ScclPlan plan = empty(SendClock::Steps, nodes);
    plan.runtime = "allgather";
    for (std::int32_t n = 0; n < nodes; ++n) {
        plan.chunks.push_back({{test::id<plan::PlanNode>(n)}, test::all_nodes(nodes), n});
        for (std::int32_t s = 0; s + 1 < nodes; ++s)
            plan.sends.push_back(send(n, (n + s) % nodes, (n + s + 1) % nodes, s));
    }
    return plan;
}

template <class Plan>
Ticks makespan(const Plan& plan, const Net& net, const TimingOptions& options = {}) {
    return time_plan(plan, Topology(net.parts()), options).makespan;
}

}  // namespace

TEST_SUITE("timing: send timing") {
    TEST_CASE("an all-gather in steps round a ring takes (P-1) (alpha + beta)") {
        const Topology ring(generators::ring(5, Wire{Ticks(3), Ticks(7), {}}, generators::Direction::OneWay));
        const PlanTiming timing = time_plan(ring_steps(5), ring);
        CHECK(timing.makespan == Ticks(40));
        CHECK(timing.jobs[0].chunks == 5);
        CHECK(timing.jobs[0].goal == CollectiveKind::AllGather);
    }

    TEST_CASE("a step is no barrier: a send starts when its own data is there") {
        ScclPlan plan = empty(SendClock::Steps, 4);
        plan.chunks = {{{0_n}, {1_n, 2_n}, 0}, {{3_n}, {2_n}, 1}};
        plan.sends = {send(0, 0, 1, 0), send(1, 3, 2, 0), send(0, 1, 2, 1)};
        Net net(4);
        net.link(0, 1, 0, 10).link(3, 2, 0, 100).link(1, 2, 0, 10);
        CHECK(makespan(plan, net) == Ticks(100));
    }

    TEST_CASE("a plain chunk is sent on when the first of its copies is there") {
        ScclPlan plan = empty(SendClock::Steps, 4);
        plan.chunks = {{{0_n, 1_n}, {2_n, 3_n}, 0}};
        plan.sends = {send(0, 0, 2, 0), send(0, 1, 2, 0), send(0, 2, 3, 1)};
        Net net(4);
        net.link(0, 2, 0, 50).link(1, 2, 0, 10).link(2, 3, 0, 30);
        CHECK(makespan(plan, net) == Ticks(50));
    }

    TEST_CASE("a sum waits for all that came in earlier steps, and is not spoilt by later ones") {
        ScclPlan plan = empty(SendClock::Steps, 4);
        for (const plan::PlanNode n : plan::nodes_below(4)) plan.chunks.push_back({{n}, {3_n}, 0});
        plan.sends = {send(0, 0, 2, 0), send(0, 1, 2, 0), send(0, 2, 3, 1)};
        Net net(4);
        net.link(0, 2, 0, 50).link(1, 2, 0, 10).link(2, 3, 0, 30).link(3, 2, 0, 1);
        CHECK(makespan(plan, net) == Ticks(80));
        // What comes back in step 1 may be there at tick 1, but is added after the sum has left at tick 50.
        plan.sends.push_back(send(0, 3, 2, 1));
        plan.sends.push_back(send(0, 2, 0, 2));
        net.link(2, 0, 0, 5);
        CHECK(makespan(plan, net) == Ticks(80));
    }

    TEST_CASE("sends from node to node go in order") {
        ScclPlan plan = empty(SendClock::Steps, 3);
        plan.chunks = {{{0_n}, {2_n}, 0}, {{1_n}, {2_n}, 1}};
        plan.sends = {send(0, 0, 1, 0), send(0, 1, 2, 1), send(1, 1, 2, 2)};
        CHECK(makespan(plan, test::line(3, 0, 10)) == Ticks(30));
        plan.sends[2].when = 0;
        CHECK(makespan(plan, test::line(3, 0, 10)) == Ticks(20));
    }

    TEST_CASE("TACCL's copies come after its sums, whatever their times say") {
        ScclPlan plan = empty(SendClock::Times, 3);
        for (const plan::PlanNode n : test::all_nodes(3)) plan.chunks.push_back({{n}, test::all_nodes(3), 0});
        plan.sends = {send(0, 2, 1, 0), send(0, 1, 0, 10), send(0, 0, 1, 5), send(0, 1, 2, 15)};
        plan.sends[2].replaces = plan.sends[3].replaces = true;
        CHECK(makespan(plan, test::line(3, 0, 10)) == Ticks(40));
    }

    TEST_CASE("queues keep a link's order and wait for what they need") {
        plan::TacosPlan plan;
        plan.nodes = 3;
        plan.chunks = 3;
        plan.links = {{0_n, 1_n, 0, 0, {0, 2}}, {1_n, 2_n, 0, 0, {1, 0}}, {2_n, 0_n, 0, 0, {2, 1}}};
        const Topology ring(generators::ring(3, Wire{Ticks(1), Ticks(9), {}}, generators::Direction::OneWay));
        CHECK(time_plan(plan, ring).makespan == Ticks(20));
        for (plan::TacosLink& link : plan.links) std::swap(link.queue[0], link.queue[1]);
        CHECK_THROWS_WITH_AS((void)time_plan(plan, ring), "the plan does not end: gpu 0 waits for ever",
                             InputError);
        TimingOptions options;
        options.goal = CollectiveKind::AllReduce;
        CHECK_THROWS_AS((void)time_plan(plan, ring, options), InputError);
    }

    TEST_CASE("trees carry their chunks one after the other, down, up, or both") {
        plan::ForestCollPlan plan;
        plan.node_names = {"a", "b", "c"};
        plan.trees = {{0_n, 0, 2, 2, {{0_n, 1_n}, {1_n, 2_n}}}};
        const Net net = test::line(3, 0, 10);
        CHECK(makespan(plan, net) == Ticks(30));
        TimingOptions options;
        options.goal = CollectiveKind::ReduceScatter;
        CHECK(makespan(plan, net, options) == Ticks(30));
        options.goal = CollectiveKind::AllReduce;
        CHECK(makespan(plan, net, options) == Ticks(50));
        options.goal = CollectiveKind::AllToAll;
        CHECK_THROWS_AS((void)makespan(plan, net, options), InputError);
        plan.trees[0].sends.push_back({0_n, 2_n});
        CHECK_THROWS_WITH_AS((void)makespan(plan, net), "two sends of a tree end at one node", InputError);
    }

    TEST_CASE("TE-CCL's epochs between GPUs are timed, split chunks are not") {
        plan::EpochSchedule schedule;
        // GPUs 1, 3 and 4; 2 is a switch on the way.
        const auto flow = [](plan::PlanNode from, plan::PlanNode to, std::int64_t epoch) {
            plan::EpochFlow made;
            made.origin = 1_n;
            made.hop.from = from;
            made.hop.to = to;
            made.hop.epoch = epoch;
            return made;
        };
        schedule.flows = {flow(1_n, 3_n, 0), flow(3_n, 4_n, 2)};
        schedule.demands = {{3_n, 1_n, 0, 0, {}}, {4_n, 1_n, 0, 0, {}}};
        const Topology line(test::line(3, 1, 9).parts());
        CHECK(time_plan(schedule, line).makespan == Ticks(20));
        schedule.flows[0].hop.volume /= 2;
        CHECK_THROWS_AS((void)time_plan(schedule, line), InputError);
        schedule.flows[0] = flow(1_n, 2_n, 0);
        CHECK_THROWS_AS((void)time_plan(schedule, line), InputError);
    }

    TEST_CASE("the call's bytes are cut into the chunks of the larger buffer") {
        ScclPlan plan = empty(SendClock::Steps, 3);
        std::int64_t address = 0;
        for (const plan::PlanNode a : test::all_nodes(3)) {
            for (const plan::PlanNode b : test::all_nodes(3)) {
                if (a == b) continue;
                plan.chunks.push_back({{a}, {b}, address++});
                plan.chunks.push_back({{a}, {b}, address++});
            }
        }
        CHECK(chunks_of_call(CollectiveKind::AllToAll, plan) == 6);
        CHECK(chunks_of_call(CollectiveKind::Custom, plan) == 4);
        CHECK(chunks_of_call(CollectiveKind::AllGather, ring_steps(4)) == 4);
    }

    TEST_CASE("the call's bytes count the root's own share, said or left out") {
        ScclPlan plan = empty(SendClock::Steps, 3);
        plan.chunks = {{{1_n}, {0_n}, 0}, {{1_n}, {0_n}, 1}, {{2_n}, {0_n}, 2}, {{2_n}, {0_n}, 3}};
        CHECK(chunks_of_call(CollectiveKind::Gather, plan) == 6);
        plan.chunks.push_back({{0_n}, {0_n}, 4});
        plan.chunks.push_back({{0_n}, {0_n}, 5});
        CHECK(chunks_of_call(CollectiveKind::Gather, plan) == 6);
        for (plan::SendChunk& chunk : plan.chunks) std::swap(chunk.pre, chunk.post);
        CHECK(chunks_of_call(CollectiveKind::Scatter, plan) == 6);
    }

    TEST_CASE("a volume that TE-CCL has rounded is a whole chunk") {
        plan::EpochSchedule schedule;
        schedule.flows = {{0_n, 0, {0_n, 1_n, 0, plan::kWholeVolume - plan::kVolumeTolerance, {}}}};
        schedule.demands = {{1_n, 0_n, 0, 0, {}}};
        CHECK(time_plan(schedule, Topology(test::line(2, 1, 9).parts())).makespan == Ticks(10));
    }

    TEST_CASE("a node cannot send what it does not have") {
        ScclPlan plan = empty(SendClock::Steps, 3);
        plan.chunks = {{{0_n}, {2_n}, 0}};
        plan.sends = {send(0, 1, 2, 0)};
        CHECK_THROWS_WITH_AS((void)makespan(plan, test::line(3)),
                             "node 1 sends address 0, which it does not have", InputError);
        plan.sends = {send(0, 0, 7, 0)};
        CHECK_THROWS_AS((void)makespan(plan, test::line(3)), InputError);
    }
}

}  // namespace tutti::timing
