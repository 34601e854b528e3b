#include "tests/support/builders.hpp"
#include "tests/support/execution_builder.hpp"
#include "timing/plan_timing.hpp"

#include <doctest/doctest.h>

namespace tutti::timing {
namespace {

using test::ExecutionBuilder;
using test::Net;

Ticks makespan(const plan::ExecutionPlan& plan, const Net& net) {
    return time_plan(plan, Topology(net.parts())).makespan;
}

std::string refusal(const plan::ExecutionPlan& plan, const Net& net) {
    try {
        (void)makespan(plan, net);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_SUITE("timing: execution timing") {
    TEST_CASE("a signal comes with the data that was put before it, not sooner") {
        ExecutionBuilder plan("test", 2);
        plan.gpu(4, 4).tb("put i0+3 -> 1:o0+3", "nop", "signal 1");
        plan.gpu(4, 4).tb("wait 0", "nop", "put o0 -> 0:o0");
        // Three chunks of 10 and alpha 5, then one back.
        CHECK(makespan(plan, test::line(2, 5, 10)) == Ticks(35 + 15));
        // A relaxed signal does not wait for the data: the answer leaves after the signal's latency.
        ExecutionBuilder loose("test", 2);
        loose.gpu(4, 4).tb("put i0+3 -> 1:o0+3", "nop", "rlxsignal 1");
        loose.gpu(4, 4).tb("rlxwait 0", "nop", "put o0+3 -> 0:o0+3");
        // The third put starts at 20, the signal right then.
        CHECK(makespan(loose, test::line(2, 5, 10)) == Ticks(25 + 35));
    }

    TEST_CASE("signals alone take the latency of the route") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(1, 1).tb("signal 1,2");
        plan.gpu(1, 1).tb("wait 0", "signal 2");
        plan.gpu(1, 1).tb("wait 0,1");
        CHECK(makespan(plan, test::line(3, 7, 100)) == Ticks(14));
    }

    TEST_CASE("what other blocks put before a barrier has arrived when the signal after it counts") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(2, 2).tb("put i0+2 -> 1:o0+2", "barrier 0 2").tb("barrier 0 2", "signal 2");
        plan.gpu(2, 2);
        plan.gpu(2, 2).tb("wait 0");
        Net net(3);
        net.link(0, 1, 5, 10).link(0, 2, 1, 1);
        CHECK(makespan(plan, net) == Ticks(25));
        // The other block goes on when the link has taken the data, which the last wait shows.
        ExecutionBuilder quick("test", 3);
        quick.gpu(2, 2).tb("put i0+2 -> 1:o0+2", "barrier 0 2").tb("barrier 0 2", "put i0 -> 2:o0");
        quick.gpu(2, 2);
        quick.gpu(2, 2).tb("nop");
        const PlanTiming timing = time_plan<plan::ExecutionPlan>(quick, Topology(net.parts()));
        CHECK(timing.makespan == Ticks(25));
        CHECK(timing.jobs[0].transfers == 3);
    }

    TEST_CASE("a semaphore that several blocks acquire is released when what was put before has arrived") {
        ExecutionBuilder plan("test", 2);
        plan.gpu(1, 2, 0, {0})
            .tb("put i0 -> 1:o0", "release 0", "release 0")
            .tb("acquire 0", "put i0 -> 1:o1")
            .tb("acquire 0");
        plan.gpu(1, 2);
        CHECK(makespan(plan, test::line(2, 5, 10)) == Ticks(30));
    }

    TEST_CASE("a semaphore that starts above zero can be acquired before it is released") {
        ExecutionBuilder plan("test", 2);
        plan.gpu(1, 2, 0, {1}).tb("put i0 -> 1:o0", "release 0").tb("acquire 0", "put i0 -> 1:o1");
        plan.gpu(1, 2);
        CHECK(makespan(plan, test::line(2, 5, 10)) == Ticks(25));
    }

    TEST_CASE(
        "a block that takes over by a semaphore starts at once; its signals wait for the other's puts") {
        ExecutionBuilder plan("test", 2);
        plan.gpu(1, 2, 0, {0}).tb("put i0 -> 1:o0", "release 0").tb("acquire 0", "put i0 -> 1:o1");
        plan.gpu(1, 2);
        // The second put starts when the link has taken the first.
        CHECK(makespan(plan, test::line(2, 5, 10)) == Ticks(25));

        ExecutionBuilder signalled("test", 3);
        signalled.gpu(1, 1, 0, {0}).tb("put i0 -> 1:o0", "release 0").tb("acquire 0", "signal 2");
        signalled.gpu(1, 1);
        signalled.gpu(1, 1).tb("wait 0", "nop", "put i0 -> 0:o0");
        Net net(3);
        net.link(0, 1, 5, 10).link(0, 2, 1, 1).link(2, 0, 1, 1);
        CHECK(makespan(signalled, net) == Ticks(15 + 2));
    }

    TEST_CASE("a block that reads from other ranks waits until what was put before a semaphore has arrived") {
        ExecutionBuilder plan("test", 2);
        plan.gpu(1, 2, 0, {0}).tb("put i0 -> 1:o0", "release 0").tb("acquire 0", "get 1:o0 -> o0");
        plan.gpu(1, 2);
        CHECK(makespan(plan, test::line(2, 5, 10)) == Ticks(30));
    }

    TEST_CASE("thread blocks that connect the same two ranks take turns on equal routes") {
        // Two parallel links; whatever else a GPU has, the first block to a rank takes the first turn.
        Net net(2);
        net.link(0, 1, 0, 10).link(0, 1, 0, 10);
        ExecutionBuilder plan("test", 2);
        plan.gpu(2, 2).tb("put i0 -> 1:o0").tb("nop").tb("put i1 -> 1:o1");
        plan.gpu(2, 2);
        CHECK(makespan(plan, net) == Ticks(10));
    }

    TEST_CASE("reads fetch from the other side and last until they have arrived") {
        ExecutionBuilder plan("test", 2);
        plan.gpu(2, 2).tb("get 1:i0+2 -> o0+2", "nop", "signal 1");
        plan.gpu(2, 2).tb("wait 0");
        Net net(2);
        net.link(0, 1, 1, 1000).link(1, 0, 5, 10);
        CHECK(makespan(plan, net) == Ticks(25 + 1));
    }

    TEST_CASE("a sum that is read and sent is forwarded part by part") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(4, 4);
        plan.gpu(4, 4).tb("rres i0+4, 0:i0+4 -> o0+4, 2:o0+4");
        plan.gpu(4, 4);
        CHECK(makespan(plan, test::line(3, 0, 10)) == Ticks(50));
    }

    TEST_CASE("packets are passed on as they come") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(4, 4, 4).tb("ppkt i0+4 -> 1:s0+4");
        plan.gpu(4, 4, 4).tb("rppkt s0+4 -> 2:s0+4");
        plan.gpu(4, 4, 4).tb("upkt s0+4 -> o0+4");
        CHECK(makespan(plan, test::line(3, 0, 10)) == Ticks(50));
        ExecutionBuilder nobody("test", 2);
        nobody.gpu(4, 4, 4).tb("ppkt i0 -> 1:s0");
        nobody.gpu(4, 4, 4).tb("upkt s0+2 -> o0+2");
        CHECK(refusal(nobody, test::line(2)) == "gpu 1 reads packets at s[1] that nobody writes");
    }

    TEST_CASE("a proxy copies packets when they are there, each to its own channel") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(4, 4, 4).tb("ppkt i0+4 -> 1:s0+4");
        plan.gpu(4, 4, 4).tb("upkt s0+4 -> o0+4", "nop", "ppkt port s0+4 -> 2:s0+4");
        plan.gpu(4, 4, 4).tb("upkt s0+4 -> o0+4");
        CHECK(makespan(plan, test::line(3, 0, 10)) == Ticks(80));
        // So does rppkt on a port channel: it puts nothing before it has read everything.
        ExecutionBuilder relay("test", 3);
        relay.gpu(4, 4, 4).tb("ppkt i0+4 -> 1:s0+4");
        relay.gpu(4, 4, 4).tb("rppkt port s0+4 -> 2:s0+4");
        relay.gpu(4, 4, 4).tb("upkt s0+4 -> o0+4");
        CHECK(makespan(relay, test::line(3, 0, 10)) == Ticks(80));
        // The channel to the slow gpu does not hold up the other one.
        ExecutionBuilder two("test", 3);
        two.gpu(4, 4, 4).tb("cpkt i0+4 -> s0+4", "rppkt port s0+4 -> 1:s0+4, 2:s0+4");
        two.gpu(4, 4, 4).tb("upkt s0+4 -> o0+4");
        two.gpu(4, 4, 4).tb("upkt s0+4 -> o0+4", "nop", "put o0 -> 0:o0");
        Net net(3);
        net.link(0, 1, 0, 50).link(0, 2, 0, 10).link(2, 0, 0, 150);
        CHECK(makespan(two, net) == Ticks(200));
    }

    TEST_CASE("of packets that come twice the first ones count") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(1, 1, 1).tb("ppkt i0 -> 2:s0");
        plan.gpu(1, 1, 1).tb("ppkt i0 -> 2:s0");
        plan.gpu(1, 1, 1).tb("upkt s0 -> o0", "nop", "put o0 -> 0:o0");
        Net net(3);
        net.link(0, 2, 0, 50).link(1, 2, 0, 10).link(2, 0, 0, 10);
        CHECK(makespan(plan, net) == Ticks(50));
        net.link(2, 1);
        CHECK(time_plan<plan::ExecutionPlan>(plan, Topology(net.parts())).jobs[0].transfers == 3);
    }

    TEST_CASE("the blocks of a group move a part each") {
        ExecutionBuilder plan("test", 2);
        plan.gpu(3, 3).tb("put i0+3 -> 1:o0+3 part 0/2").tb("put i0+3 -> 1:o0+3 part 1/2");
        plan.gpu(3, 3);
        const PlanTiming timing =
            time_plan<plan::ExecutionPlan>(plan, Topology(test::line(2, 0, 10).parts()));
        CHECK(timing.jobs[0].chunks == 6);
        CHECK(timing.jobs[0].transfers == 6);
    }

    TEST_CASE("a proxy works while the block continues, and a flush waits for its links") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(3, 3).tb("put port i0+3 -> 1:o0+3", "put i0 -> 2:o0");
        plan.gpu(3, 3);
        plan.gpu(3, 3);
        Net net(3);
        net.link(0, 1, 0, 10).link(0, 2, 0, 25);
        CHECK(makespan(plan, net) == Ticks(30));
        ExecutionBuilder flushed("test", 3);
        flushed.gpu(3, 3).tb("put port i0+3 -> 1:o0+3", "flush port 1", "put i0 -> 2:o0");
        flushed.gpu(3, 3);
        flushed.gpu(3, 3);
        CHECK(makespan(flushed, net) == Ticks(20 + 25));
        ExecutionBuilder threads("test", 3);
        threads.gpu(3, 3).tb("put i0+3 -> 1:o0+3", "put i0 -> 2:o0");
        threads.gpu(3, 3);
        threads.gpu(3, 3);
        CHECK(makespan(threads, net) == Ticks(20 + 25));
    }

    TEST_CASE("a switch channel is a transfer to or from every rank") {
        ExecutionBuilder plan("test", 3);
        plan.gpu(1, 1).tb("gstore i0 -> *:o0");
        plan.gpu(1, 1);
        plan.gpu(1, 1);
        const PlanTiming timing = time_plan<plan::ExecutionPlan>(
            plan, Topology(test::star(3, {.cut_through = true}, 0, 10).parts()));
        CHECK(timing.makespan == Ticks(20));
        REQUIRE(timing.jobs[0].notes.size() == 1);
        CHECK(timing.jobs[0].notes[0].starts_with("switch channels are timed"));
    }

    TEST_CASE("execution plans that hang or name missing channels are refused") {
        const Net net = test::line(2);
        ExecutionBuilder waits("test", 2);
        waits.gpu(1, 1).tb("wait 1");
        waits.gpu(1, 1).tb("nop");
        CHECK(refusal(waits, net) == "the plan does not end: gpu 0, tb 0 waits for ever");
        ExecutionBuilder alone("test", 2);
        alone.gpu(1, 1).tb("barrier 0 2");
        alone.gpu(1, 1);
        CHECK(refusal(alone, net) == "barrier 0 of gpu 0 waits for 2 thread blocks, but 1 come to it");
        ExecutionBuilder stray("test", 2);
        stray.gpu(1, 1).tb("put i0 -> 1:o0");
        stray.gpu(1, 1);
        stray.plan().gpus[0].blocks[0].ops[0].dst[0].id = plan::Slot(99);
        CHECK(refusal(stray, net).find("does not have") != std::string::npos);
        ExecutionBuilder fine("test", 2);
        fine.gpu(1, 1).tb("put i0 -> 1:o0 part 0/65537");
        fine.gpu(1, 1);
        CHECK(refusal(fine, net).find("more than 65536 parts") != std::string::npos);
        ExecutionBuilder huge("test", 2);
        huge.gpu(1, 1).tb("put i0+100000000 -> 1:o0+100000000");
        huge.gpu(1, 1);
        CHECK(refusal(huge, net).find("10 million") != std::string::npos);
    }
}

}  // namespace tutti::timing
