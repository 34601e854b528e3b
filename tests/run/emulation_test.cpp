// Calls on emulated links take the time that src/timing computes from the plan's file, to the tick, and end
// right. The two have nothing in common but routes: src/run starts from the program that was judged.

#include "run/emulation.hpp"

#include "core/error.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/plan_builder.hpp"
#include "tests/support/random_plans.hpp"
#include "tests/support/runnable.hpp"
#include "tests/support/sample_plans.hpp"
#include "timing/plan_timing.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

using namespace tutti;

namespace {

/// A plan on emulated links, not slept through.
class Emulated {
  public:
    explicit Emulated(const Topology& topology) : topology_(topology) {}

    void add(const verify::JudgedProgram& program, std::int64_t count, std::int64_t capacity,
             std::vector<NodeId> npus = {}) {
        if (npus.empty()) {
            for (const Rank rank : plan::ranks_below(program.postcondition.ranks))
                npus.emplace_back(rank.index());
        }
        Call& call = calls_.emplace_back(program, count);
        run::EmulatedJob& job = jobs_.emplace_back();
        job.program = &program;
        job.executable = &call.executable;
        job.memories = &call.memories;
        job.place.npus = std::move(npus);
        job.place.capacity = capacity;
        job.place.chunk = Bytes{std::max<std::int64_t>(call.layout.stride(), 1) * 4};
    }
    std::vector<Ticks> run() {
        for (Call& call : calls_) call.memories.fill(call.data);
        return run::run_emulated(topology_, jobs_, {.sleep = false});
    }
    [[nodiscard]] std::uint64_t wrong() const {
        std::uint64_t wrong = 0;
        for (const Call& call : calls_) wrong += call.memories.check(call.data).wrong;
        return wrong;
    }

  private:
    struct Call {
        run::Executable executable;
        run::Layout layout;
        run::TestData data;
        run::LocalMemories memories;
        Call(const verify::JudgedProgram& program, std::int64_t count)
            : executable(run::executable_of(program, {.messages_apart = true})),
              layout(executable, count),
              data(executable, layout, run::ElementType::F32, run::Operator::Sum, 1),
              memories(executable, layout, run::ElementType::F32, run::Operator::Sum) {}
    };
    const Topology& topology_;
    std::deque<Call> calls_;
    std::vector<run::EmulatedJob> jobs_;
};

Topology some_network(Rng& rng, std::uint32_t npus) {
    const auto alpha = static_cast<std::int64_t>(rng.below(5)),
               beta = static_cast<std::int64_t>(1 + rng.below(7));
    test::Net net = rng.below(2) == 0 ? test::line(npus, alpha, beta)
                                      : test::star(npus, {.cut_through = rng.below(2) == 0}, alpha, beta);
    if (rng.below(3) == 0) net.one_in_flight();
    return Topology(net.parts());
}

timing::TimingOptions with_capacity(std::int64_t capacity) {
    timing::TimingOptions options;
    options.fifo_capacity = capacity;
    return options;
}

}  // namespace

TEST_CASE("a call on emulated links takes what the plan's file says that it takes") {
    std::uint64_t compared = 0;
    const std::uint64_t count = test::cases(400);
    test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const plan::MscclPlan plan =
            test::random_plan(rng, static_cast<test::PlanOrigin>(seed % test::kPlanOrigins));
        std::vector<verify::JudgedProgram> programs;
        const plan::PlanVerdict verdict = verify::verify(plan, {}, programs);
        if (!verdict.acceptable() || programs.empty()) return;
        const Topology topology = some_network(rng, static_cast<std::uint32_t>(plan.ranks));
        const std::int64_t capacity = verdict.fifo->chunks + static_cast<std::int64_t>(rng.below(2));
        const Ticks expected = timing::time_plan(plan, topology, with_capacity(capacity)).makespan;
        Emulated emulated(topology);
        emulated.add(programs.front(), static_cast<std::int64_t>(1 + rng.below(40)), capacity);
        CHECK(emulated.run().front() == expected);
        if (verdict.verdict != plan::PlanClass::StructureOnly) CHECK(emulated.wrong() == 0);
        ++compared;
    });
    if (count >= 100) CHECK(compared > count / 4);
}

TEST_CASE("plans of several groups share the emulated links") {
    const plan::MscclPlan plan = test::ring_all_gather(3);
    const auto programs = test::runnable(plan).programs;
    const Topology topology(test::line(3, 3, 10).parts());
    const std::vector<NodeId> there = test::nodes({0, 1, 2}), back = test::nodes({2, 0, 1});
    std::vector<timing::TimedJob> jobs;
    Emulated both(topology), alone(topology);
    for (const auto& npus : {there, back}) {
        timing::TimingOptions options = with_capacity(2);
        options.group = npus;
        jobs.push_back({&plan, options});
        both.add(programs.at(0), 30, 2, npus);
    }
    alone.add(programs.at(0), 30, 2, there);
    const auto ends = both.run();
    const timing::PlanTiming timing = timing::time_plans(jobs, topology);
    REQUIRE(ends.size() == 2);
    CHECK(ends[0] == timing.jobs[0].makespan);
    CHECK(ends[1] == timing.jobs[1].makespan);
    CHECK(both.wrong() == 0);
    CHECK(alone.run().front() < std::ranges::max(ends));
}

TEST_CASE("connections that hold too few messages are a deadlock, and say so") {
    test::PlanBuilder builder("allgather", 2, 4);
    for (const int rank : {0, 1}) {
        const auto own = [&](int i) { return "o" + std::to_string(2 * rank + i); };
        const auto other = [&](int i) { return "o" + std::to_string(2 * (1 - rank) + i); };
        builder.gpu(2, 4).tb(1 - rank, 1 - rank);
        for (const int i : {0, 1}) builder.step("s", own(i), own(i));
        for (const int i : {0, 1}) builder.step("r", other(i), other(i));
    }
    const auto programs = test::runnable(builder.plan()).programs;
    const Topology topology(test::line(2, 1, 1).parts());
    Emulated enough(topology), few(topology);
    enough.add(programs.at(0), 8, 2);
    CHECK_NOTHROW(enough.run());
    few.add(programs.at(0), 8, 1);
    try {
        (void)few.run();
        FAIL("a deadlock was not found");
    } catch (const InputError& error) {
        CHECK(
            std::string(error.what()).starts_with("deadlock where connections hold 1 message: gpu 0, tb 0"));
    }
}

TEST_CASE("emulated links serve who comes first, and pass on what they have") {
    using Kind = run::EmulatedLinks::Event::Kind;
    const auto events = [](const Topology& topology, NodeId to) {
        run::EmulatedLinks links(topology);
        const auto route = links.connect(NodeId(0), to, 0, Bytes{0});
        links.send(7, route, Bytes{0}, Ticks(0));
        links.send(8, route, Bytes{0}, Ticks(2));
        std::vector<std::int64_t> starts, arrivals;
        while (links.next()) {
            const auto event = links.advance();
            if (event) (event->kind == Kind::Start ? starts : arrivals).push_back(event->at.count());
        }
        starts.insert(starts.end(), arrivals.begin(), arrivals.end());
        return starts;
    };
    // alpha 3, beta 10: the second waits until the link is free at 10.
    CHECK(events(Topology(test::line(2, 3, 10).parts()), NodeId(1)) ==
          std::vector<std::int64_t>{0, 10, 13, 23});
    // Over a switch: 13 more where it stores, 3 more where it does not.
    CHECK(events(Topology(test::star(2, {}, 3, 10).parts()), NodeId(1)) ==
          std::vector<std::int64_t>{0, 10, 26, 36});
    CHECK(events(Topology(test::star(2, {.cut_through = true}, 3, 10).parts()), NodeId(1)) ==
          std::vector<std::int64_t>{0, 10, 16, 26});
    // One message in flight: the second starts when the first has arrived.
    CHECK(events(Topology(test::line(2, 3, 10).one_in_flight().parts()), NodeId(1)) ==
          std::vector<std::int64_t>{0, 13, 13, 26});
}
