#include "timing/plan_timing.hpp"

#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/sample_plans.hpp"
#include "timing/call_size.hpp"

#include <doctest/doctest.h>

namespace tutti::timing {
namespace {

using plan::Buffer;
using plan::MscclPlan;
using plan::StepType;
using test::block;
using test::empty_plan;
using test::Net;
using test::step;

/// r -> r+1 only.
Net one_way_ring(std::uint32_t npus, std::int64_t alpha, std::int64_t beta) {
    Net net(npus);
    for (std::uint32_t r = 0; r < npus; ++r) net.link(r, (r + 1) % npus, alpha, beta);
    return net;
}

Net full(std::uint32_t npus, std::int64_t alpha, std::int64_t beta) {
    Net net(npus);
    for (std::uint32_t a = 0; a < npus; ++a) {
        for (std::uint32_t b = 0; b < npus; ++b) {
            if (a != b) net.link(a, b, alpha, beta);
        }
    }
    return net;
}

Ticks makespan(const MscclPlan& plan, const Net& net, const TimingOptions& options = {}) {
    return time_plan(plan, Topology(net.parts()), options).makespan;
}

/// Rank 0 sends `chunks` in one step to rank 1, which takes them by `receive`.
MscclPlan one_message(std::int32_t chunks) {
    MscclPlan plan = empty_plan(CollectiveKind::Broadcast, 2, chunks);
    plan.gpus[0].blocks = {block(0, 1, -1, 0, {step(StepType::Send, Buffer::Input, 0, chunks)})};
    plan.gpus[1].blocks = {block(0, -1, 0, 0, {step(StepType::Receive, Buffer::Output, 0, chunks)})};
    return plan;
}

}  // namespace

TEST_SUITE("timing: plan timing") {
    TEST_CASE("a ring all-gather on a ring takes (P-1) (alpha + beta)") {
        for (const std::int32_t ranks : {2, 3, 5, 8}) {
            CHECK(makespan(test::ring_all_gather(ranks),
                           one_way_ring(static_cast<std::uint32_t>(ranks), 7, 3)) == Ticks((ranks - 1) * 10));
        }
    }

    TEST_CASE("a ring all-reduce on a ring takes 2 (P-1) (alpha + beta)") {
        for (const std::int32_t ranks : {2, 3, 4, 8}) {
            CHECK(makespan(test::ring_all_reduce(ranks), one_way_ring(static_cast<std::uint32_t>(ranks), 7,
                                                                      3)) == Ticks(2 * (ranks - 1) * 10));
        }
    }

    TEST_CASE("all pairs at once take alpha + beta on a full mesh") {
        CHECK(makespan(test::pairs_all_gather(6), full(6, 7, 3)) == Ticks(10));
        CHECK(makespan(test::pairs_all_to_all(6), full(6, 7, 3)) == Ticks(10));
        MscclPlan deep = test::pairs_all_to_all(6, 3);
        deep.protocol = plan::Protocol::LL;
        CHECK(makespan(deep, full(6, 7, 3)) == Ticks(3 * 3 + 7));
    }

    TEST_CASE("all pairs through one switch are as slow as its ports") {
        // Each NPU's link into the switch carries 5 chunks; store and forward adds one beta.
        CHECK(makespan(test::pairs_all_gather(6), test::star(6, {}, 1, 4)) == Ticks(5 * 4 + 1 + 1 + 4));
        CHECK(makespan(test::pairs_all_gather(6), test::star(6, {.cut_through = true}, 1, 4)) ==
              Ticks(5 * 4 + 1 + 1));
    }

    TEST_CASE("a fused step passes each chunk on as it arrives") {
        // A chain of 4, one step of 5 chunks: the pipeline fills in 3 hops and then gives a chunk every beta.
        MscclPlan plan = test::tree_broadcast({-1, 0, 1, 2}, 5);
        plan.protocol = plan::Protocol::LL;
        CHECK(makespan(plan, test::line(4, 0, 3)) == Ticks((3 + 4) * 3));
        CHECK(makespan(plan, test::line(4, 2, 3)) == Ticks(3 * 5 + 4 * 3));
    }

    TEST_CASE(
        "a connection holds as many messages as its protocol, and a slot is free when one is received") {
        // alpha is long: with c slots, c chunks go every alpha + beta.
        const Net net = test::line(2, 98, 2);
        MscclPlan plan = one_message(8);
        CHECK(makespan(plan, net) == Ticks(2 + 4 * 100));
        plan.protocol = plan::Protocol::LL;
        CHECK(makespan(plan, net) == Ticks(8 * 2 + 98));
        TimingOptions options;
        options.fifo_capacity = 1;
        CHECK(makespan(plan, net, options) == Ticks(8 * 100));
        options.fifo_capacity = 4;
        CHECK(makespan(plan, net, options) == Ticks(100 + 4 * 2 + 98));
    }

    TEST_CASE("a dependency waits for the first step at or after it that signals") {
        MscclPlan plan = empty_plan(CollectiveKind::Custom, 3, 4);
        auto a = step(StepType::Receive, Buffer::Scratch, 0), b = step(StepType::Receive, Buffer::Scratch, 1);
        auto out = step(StepType::Send, Buffer::Scratch, 0);
        out.dep_block = plan::BlockId(0), out.dep_step = plan::StepId(0);
        plan.gpus[0].blocks = {block(
            0, 1, -1, 0, {step(StepType::Send, Buffer::Input, 0), step(StepType::Send, Buffer::Input, 1)})};
        plan.gpus[2].blocks = {block(0, -1, 1, 0, {step(StepType::Receive, Buffer::Output, 0)})};
        const Net net = test::line(3, 0, 10);
        for (const auto& [first, second, expected] :
             {std::tuple{true, false, 20}, {true, true, 20}, {false, true, 30}}) {
            a.signals = first;
            b.signals = second;
            plan.gpus[1].blocks = {block(0, -1, 0, 0, {a, b}), block(1, 2, -1, 0, {out})};
            CHECK(makespan(plan, net) == Ticks(expected));
        }
        a.signals = b.signals = false;
        plan.gpus[1].blocks = {block(0, -1, 0, 0, {a, b}), block(1, 2, -1, 0, {out})};
        CHECK_THROWS_WITH_AS((void)makespan(plan, net),
                             "gpu 1, tb 1, step 0 waits for a signal that never comes", InputError);
    }

    TEST_CASE("a nop waits like a step and signals nothing") {
        MscclPlan plan = empty_plan(CollectiveKind::Custom, 3, 4);
        auto in = step(StepType::Receive, Buffer::Scratch, 0);
        in.signals = true;
        auto nop = step(StepType::Nop, Buffer::Input, -1, 0);
        nop.dep_block = plan::BlockId(0), nop.dep_step = plan::StepId(0);
        nop.signals = true;
        plan.gpus[0].blocks = {block(0, 1, -1, 0, {step(StepType::Send, Buffer::Input, 0)})};
        plan.gpus[1].blocks = {block(0, -1, 0, 0, {in}),
                               block(1, 2, -1, 0, {nop, step(StepType::Send, Buffer::Input, 0)})};
        plan.gpus[2].blocks = {block(0, -1, 1, 0, {step(StepType::Receive, Buffer::Output, 0)})};
        CHECK(makespan(plan, test::line(3, 0, 10)) == Ticks(20));
        // A dependency on the nop is served by the next step that is none.
        plan.gpus[1].blocks[1].steps[0].dep_block = std::nullopt;
        plan.gpus[1].blocks[0].steps[0].dep_block = plan::BlockId(1);
        plan.gpus[1].blocks[0].steps[0].dep_step = plan::StepId(0);
        CHECK_THROWS_AS((void)makespan(plan, test::line(3, 0, 10)), InputError);
    }

    TEST_CASE("ranks are mapped to NPUs by the group") {
        const MscclPlan plan = test::ring_all_gather(3);
        Net net = one_way_ring(3, 0, 5);
        // Against the ring: every connection is two hops, and each link serves two of them.
        TimingOptions options;
        options.group = test::nodes({2, 1, 0});
        const PlanTiming timing = time_plan(plan, Topology(net.parts()), options);
        CHECK(timing.jobs[0].relayed == 3);
        CHECK(timing.jobs[0].connections == 3);
        CHECK(timing.makespan > Ticks(10));
        options.group = test::nodes({1, 2, 0});
        CHECK(time_plan(plan, Topology(net.parts()), options).makespan == Ticks(10));
    }

    TEST_CASE("plans that run together share the links") {
        const MscclPlan plan = test::ring_all_gather(2);
        const Topology topology(test::line(4, 0, 10).parts());
        const auto timed = [&](std::vector<std::vector<std::size_t>> groups) {
            std::vector<TimedJob> jobs;
            for (const auto& group : groups) {
                jobs.push_back({&plan, {}});
                jobs.back().options.group = test::nodes(group);
            }
            return time_plans(jobs, topology);
        };
        CHECK(timed({{0, 1}}).makespan == Ticks(10));
        CHECK(timed({{0, 1}, {2, 3}}).makespan == Ticks(10));
        const PlanTiming both = timed({{0, 1}, {0, 2}});
        CHECK(both.makespan == Ticks(30));
        CHECK(both.jobs[0].makespan == Ticks(10));
        CHECK(both.jobs[1].makespan == Ticks(30));
    }

    TEST_CASE("the timing reports what each link carried") {
        MscclPlan plan = test::ring_all_gather(4, 2);
        plan.protocol = plan::Protocol::LL;
        const PlanTiming timing = time_plan(plan, Topology(one_way_ring(4, 1, 3).parts()));
        REQUIRE(timing.links.size() == 4);
        for (const LinkLoad& load : timing.links) {
            CHECK(load.transfers == 6);
            CHECK(load.busy == Ticks(18));
        }
        CHECK(timing.jobs[0].transfers == 24);
    }

    TEST_CASE("the size of a call is that of the larger buffer, as nccl-tests counts") {
        // 1 MB/s would be silly: 1 GB/s is 1000 ticks per byte.
        const Topology topology(
            generators::ring(4, Wire{Ticks(500), Ticks(0), Decimal{1, 0}}, generators::Direction::OneWay));
        TimingOptions options;
        options.bytes = {4096};
        const PlanTiming timing = time_plan(test::ring_all_gather(4), topology, options);
        CHECK(timing.jobs[0].chunk == Bytes{1024});
        CHECK(timing.makespan == Ticks(3 * (500 + 1024 * 1000)));
        const double algbw = 4096.0 / static_cast<double>(timing.makespan.count()) * 1000;
        CHECK(timing.jobs[0].algbw_GBps == doctest::Approx(algbw));
        CHECK(timing.jobs[0].busbw_GBps == doctest::Approx(algbw * 3 / 4));
        const PlanTiming reduced = time_plan(test::ring_all_reduce(4), topology, options);
        CHECK(*reduced.jobs[0].busbw_GBps == doctest::Approx(*reduced.jobs[0].algbw_GBps * 6 / 4));
        options.bytes = {4097};
        CHECK(time_plan(test::ring_all_gather(4), topology, options).jobs[0].chunk == Bytes{1025});
        CHECK_FALSE(bus_factor(CollectiveKind::Custom, 4));
        options.bytes = {0};
        CHECK_THROWS_AS((void)time_plan(test::ring_all_gather(4), topology, options), InputError);
        options.bytes = {kMaxCallBytes.count + 1};
        CHECK_THROWS_AS((void)time_plan(test::ring_all_gather(4), topology, options), InputError);
    }

    TEST_CASE("the chunks of a gather are those of the root's output, whichever of the two a file counts") {
        // Most files count the chunks of one rank's input, SCCL's those of the root's output.
        MscclPlan share = empty_plan(CollectiveKind::Gather, 4, 2);
        share.gpus[1].output_chunks = 8;
        CHECK(chunks_of_call(CollectiveKind::Gather, share) == 8);
        MscclPlan whole = share;
        whole.chunks_per_loop = 8;
        CHECK(chunks_of_call(CollectiveKind::Gather, whole) == 8);
        MscclPlan scatter = empty_plan(CollectiveKind::Scatter, 4, 2);
        scatter.gpus[1].input_chunks = 8;
        CHECK(chunks_of_call(CollectiveKind::Scatter, scatter) == 8);
        scatter.chunks_per_loop = 8;
        CHECK(chunks_of_call(CollectiveKind::Scatter, scatter) == 8);
        CHECK(chunks_of_call(CollectiveKind::AllGather, whole) == 8);
    }

    TEST_CASE("a plan asked about a size that it is not for is timed, with a note") {
        const Topology topology(
            generators::ring(4, Wire{Ticks(500), Ticks(0), Decimal{1, 0}}, generators::Direction::OneWay));
        MscclPlan plan = test::ring_all_gather(4);
        plan.min_bytes = 1000;
        plan.max_bytes = 2000;
        TimingOptions options;
        for (const auto& [bytes, notes] : {std::pair{1500, 0}, {500, 1}, {2500, 1}}) {
            options.bytes = {bytes};
            CHECK(time_plan(plan, topology, options).jobs[0].notes.size() == static_cast<std::size_t>(notes));
        }
        plan.max_bytes = 0;
        CHECK(time_plan(plan, topology, options).jobs[0].notes.empty());
    }

    TEST_CASE("channels take turns on parallel links, and a given route is kept to") {
        MscclPlan plan = empty_plan(CollectiveKind::Custom, 2, 2);
        for (std::int32_t c = 0; c < 2; ++c) {
            plan.gpus[0].blocks.push_back(block(c, 1, -1, c, {step(StepType::Send, Buffer::Input, c)}));
            plan.gpus[1].blocks.push_back(block(c, -1, 0, c, {step(StepType::Receive, Buffer::Output, c)}));
        }
        Net net(2);
        net.link(0, 1, 0, 10).link(0, 1, 0, 10);
        CHECK(makespan(plan, net) == Ticks(10));
        TimingOptions options;
        options.routes = {{Rank(0), Rank(1), std::nullopt, {LinkId(1)}}};
        CHECK(makespan(plan, net, options) == Ticks(20));
        options.routes = {{Rank(0), Rank(1), plan::ChannelId(0), {LinkId(1)}},
                          {Rank(0), Rank(1), plan::ChannelId(1), {LinkId(0)}}};
        CHECK(makespan(plan, net, options) == Ticks(10));
        options.routes = {{Rank(0), Rank(1), plan::ChannelId(0), {LinkId(7)}}};
        CHECK_THROWS_AS((void)makespan(plan, net, options), InputError);
        options.routes = {{Rank(0), Rank(1), plan::ChannelId(0), {}}};
        CHECK_THROWS_AS((void)makespan(plan, net, options), InputError);
    }

    TEST_CASE("a plan that does not fit the topology is refused with the reason") {
        const auto refusal = [](const MscclPlan& plan, const Net& net, const TimingOptions& options = {}) {
            try {
                (void)makespan(plan, net, options);
            } catch (const InputError& error) {
                return std::string(error.what());
            }
            return std::string("none");
        };
        Net apart(3);
        apart.both(0, 1).link(1, 2);
        TimingOptions options;
        options.group = test::nodes({2, 0});
        CHECK(refusal(test::ring_all_gather(2), apart, options) ==
              "the plan sends from rank 0 (NPU 2) to rank 1 (NPU 0), but the topology has no path between "
              "them");
        CHECK(refusal(test::ring_all_gather(4), apart) == "the plan has 4 ranks, the topology only 3 NPUs");
        options.group = test::nodes({0, 1, 2});
        CHECK(refusal(test::ring_all_gather(2), apart, options).starts_with("expected a group of 2 NPUs"));
        options.group = test::nodes({1, 1});
        CHECK(refusal(test::ring_all_gather(2), apart, options) == "NPU 1 is twice in the group");
        options.group = test::nodes({1, 3});
        CHECK(refusal(test::ring_all_gather(2), apart, options).starts_with("expected NPUs from 0 to 2"));

        MscclPlan lonely = one_message(1);
        lonely.gpus[1].blocks.clear();
        CHECK(refusal(lonely, apart) ==
              "the connection from rank 0 to rank 1 on channel 0 is sent on, but nobody receives on it");
        MscclPlan uneven = one_message(2);
        uneven.gpus[1].blocks[0].steps[0].count = 1;
        CHECK(refusal(uneven, apart).find("does not receive as many chunks") != std::string::npos);
        MscclPlan doubled = one_message(1);
        doubled.gpus[0].blocks.push_back(doubled.gpus[0].blocks[0]);
        CHECK(refusal(doubled, apart).find("used by two thread blocks") != std::string::npos);
        MscclPlan huge = one_message(2'000'000'000);
        CHECK(refusal(huge, apart).find("10 million") != std::string::npos);
    }

    TEST_CASE("a plan that hangs for want of FIFO slots is named, and timed with deeper ones") {
        // Both send three messages before they receive any.
        MscclPlan plan = empty_plan(CollectiveKind::Custom, 2, 3);
        for (std::int32_t r = 0; r < 2; ++r) {
            plan.gpus[static_cast<std::size_t>(r)].blocks = {block(
                0, 1 - r, 1 - r, 0,
                {step(StepType::Send, Buffer::Input, 0, 3), step(StepType::Receive, Buffer::Output, 0, 3)})};
        }
        const Net net = test::line(2, 1, 1);
        CHECK_THROWS_WITH_AS(
            (void)makespan(plan, net),
            "the plan does not end where connections hold 2 messages: gpu 0, tb 0 waits for ever",
            InputError);
        TimingOptions options;
        options.fifo_capacity = 3;
        CHECK(makespan(plan, net, options) == Ticks(4));
    }

    TEST_CASE("switches with little buffer are noted") {
        const PlanTiming timing =
            time_plan(test::pairs_all_gather(3), Topology(test::star(3, {.buffer = 1}).parts()));
        REQUIRE(timing.jobs[0].notes.size() == 1);
        CHECK(timing.jobs[0].notes[0].starts_with("switch 3 has a limited buffer"));
    }

    TEST_CASE("one rank alone takes no time") {
        CHECK(makespan(test::pairs_all_to_all(1), Net(1)) == Ticks(0));
    }
}

}  // namespace tutti::timing
