// The interpreter itself, on plans whose answer is known, and the verdict on random plans against what they
// do on data.

#include "tests/oracle/naive_interpreter.hpp"

#include "io/msccl_xml.hpp"
#include "tests/oracle/plan_opinion.hpp"
#include "tests/oracle/plan_structure.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/plan_builder.hpp"
#include "tests/support/random_plans.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace tutti;
using namespace tutti::oracle;
using test::PlanBuilder;

namespace {

PlanCall called(CollectiveKind goal, bool in_place) {
    PlanCall call;
    call.goal = goal;
    call.in_place = in_place;
    return call;
}

/// All-gather of two ranks in place, `k` chunks each: all are sent before any is received.
plan::MscclPlan sends_first(std::int32_t k) {
    PlanBuilder plan("allgather", 2, 2 * k);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(k, 2 * k).tb(1 - rank, 1 - rank);
        const auto place = [&](std::int32_t owner, std::int32_t i) {
            return "o" + std::to_string(owner * k + i);
        };
        for (std::int32_t i = 0; i < k; ++i) plan.step("s", place(rank, i), place(rank, i));
        for (std::int32_t i = 0; i < k; ++i) plan.step("r", place(1 - rank, i), place(1 - rank, i));
    }
    return plan.plan();
}

/// All-reduce of two ranks through scratch; the block that adds waits for what arrives, or does not.
plan::MscclPlan through_scratch(bool waits) {
    PlanBuilder plan("allreduce", 2, 1);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(1, 1, 1).tb(1 - rank, -1).step("s", "i0", "s0").signals();
        plan.tb(-1, 1 - rank).step("r", "i0", "s0").signals();
        plan.tb(-1, -1).step("nop", "-", "-", 0).after(0, 0).step("re", "s0", "i0");
        if (waits) plan.after(1, 0);
    }
    return plan.plan();
}

NaiveOptions seeded(std::uint64_t seed) { return {.seed = seed}; }

}  // namespace

TEST_CASE("a plan that is right ends right on data, with threads and by turns") {
    const PlanCall call = called(CollectiveKind::AllReduce, true);
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        CHECK(run_with_threads(through_scratch(true), call, seeded(seed)).right());
        CHECK(run_by_turns(through_scratch(true), call, seeded(seed)).right());
    }
}

TEST_CASE("turns find the order in which a race is lost") {
    const PlanCall call = called(CollectiveKind::AllReduce, true);
    int lost = 0;
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        const NaiveEnd end = run_by_turns(through_scratch(false), call, seeded(seed));
        CHECK(end.stuck.empty());
        lost += end.wrong.empty() ? 0 : 1;
    }
    CHECK(lost > 0);
    CHECK(lost < 49);
}

TEST_CASE("when no thread can go on, the run ends and names what each waits for") {
    const PlanCall call = called(CollectiveKind::AllGather, true);
    CHECK(run_with_threads(sends_first(2), call).right());
    for (const bool threads : {true, false}) {
        const NaiveEnd end =
            threads ? run_with_threads(sends_first(3), call) : run_by_turns(sends_first(3), call);
        REQUIRE(end.stuck.size() == 2);
        CHECK(end.stuck[0] == "gpu 0 tb 0 step 2 (s) waits for room on the connection to gpu 1");
        CHECK(end.stuck[1] == "gpu 1 tb 0 step 2 (s) waits for room on the connection to gpu 0");
    }
    plan::MscclPlan deaf = sends_first(1);
    deaf.gpus[1].blocks[0].steps.clear();
    const NaiveEnd end = run_with_threads(deaf, call);
    REQUIRE(end.stuck.size() == 1);
    CHECK(end.stuck[0] == "gpu 0 tb 0 step 1 (r) waits for a message from gpu 1");
}

TEST_CASE("the verdict on a random plan is what it does on data") {
    std::map<std::string, std::uint64_t> tally;
    const std::uint64_t count = test::cases(1500);
    test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const plan::MscclPlan plan =
            test::random_plan(rng, static_cast<test::PlanOrigin>(seed % test::kPlanOrigins));
        const plan::PlanVerdict verdict = verify::verify(plan);
        PlanQuestion question;
        if (verdict.root) question.root = static_cast<std::int32_t>(verdict.root->value());
        const std::string code = verdict.violations.empty() ? "right" : verdict.violations.front().code;
        const std::vector<PlanCall> modes = calls_of(plan, question).front();
        for (const PlanCall& call : modes) {
            if (!structure_faults(plan, call).empty()) return;
            INFO(io::msccl_xml_text(plan));
            INFO(code);
            for (const bool per_chunk : {true, false}) {
                NaiveOptions options{.message_per_chunk = per_chunk, .capacity = 1000, .seed = seed};
                if (code == "right") {
                    const std::int64_t need = per_chunk ? verdict.fifo->chunks : verdict.fifo->steps;
                    options.capacity = static_cast<int>(need);
                    const NaiveEnd end = run_by_turns(plan, call, options);
                    CHECK(end.right());
                    if (seed % 8 == 0) CHECK(run_with_threads(plan, call, options).right());
                    options.capacity = static_cast<int>(need - 1);
                    if (need > 1) CHECK_FALSE(run_by_turns(plan, call, options).stuck.empty());
                    ++tally["right"];
                } else if (code == "deadlock") {
                    CHECK_FALSE(run_by_turns(plan, call, options).stuck.empty());
                    if (seed % 8 == 0) CHECK_FALSE(run_with_threads(plan, call, options).stuck.empty());
                    ++tally["deadlock"];
                }
            }
        }
    });
    if (count < 1000) return;
    CHECK(tally["right"] > count / 4);
    CHECK(tally["deadlock"] > count / 20);
}
