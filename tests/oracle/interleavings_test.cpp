// The explorer itself, on plans whose answer is known.

#include "tests/oracle/interleavings.hpp"
#include "tests/oracle/fifo_need.hpp"
#include "tests/oracle/plan_opinion.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/plan_builder.hpp"
#include "tests/support/plan_ids.hpp"
#include "tests/support/random_plans.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

using namespace tutti;
using namespace tutti::oracle;
using test::PlanBuilder;
using Kind = Opinion::Kind;

namespace {

/// All-gather of two ranks in place; each block sends, then receives.
PlanBuilder exchange() {
    PlanBuilder plan("allgather", 2, 2);
    plan.gpu(1, 2).tb(1, 1).step("s", "o0", "o0").step("r", "o1", "o1");
    plan.gpu(1, 2).tb(0, 0).step("s", "o1", "o1").step("r", "o0", "o0");
    return plan;
}

/// All-reduce of two ranks: what arrives in scratch is added by another block, after the own value was sent.
PlanBuilder through_scratch(bool waits_for_receive, bool waits_for_send) {
    PlanBuilder plan("allreduce", 2, 1);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(1, 1, 1).tb(1 - rank, -1).step("s", "i0", "s0").signals();
        plan.tb(-1, 1 - rank).step("r", "i0", "s0").signals();
        plan.tb(-1, -1).step("nop", "-", "-", 0);
        if (waits_for_send) plan.after(0, 0);
        plan.step("re", "s0", "i0");
        if (waits_for_receive) plan.after(1, 0);
    }
    return plan;
}

/// Both ranks send k chunks, one by one, before they receive any.
PlanBuilder needs(std::int32_t k, std::int32_t count) {
    PlanBuilder plan("allgather", 2, 2 * k * count);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(k * count, 2 * k * count).tb(1 - rank, 1 - rank);
        const auto place = [&](std::int32_t owner, std::int32_t i) {
            return "o" + std::to_string((owner * k + i) * count);
        };
        for (std::int32_t i = 0; i < k; ++i) plan.step("s", place(rank, i), place(rank, i), count);
        for (std::int32_t i = 0; i < k; ++i) plan.step("r", place(1 - rank, i), place(1 - rank, i), count);
    }
    return plan;
}

Opinion opinion(const plan::MscclPlan& plan) { return opinion_on(plan, {}); }

plan::Place at(std::int32_t gpu, std::int32_t block, std::int32_t step) {
    return {.gpu = test::id<Rank>(gpu),
            .block = test::id<plan::BlockId>(block),
            .step = test::id<plan::StepId>(step)};
}

}  // namespace

TEST_CASE("exploration: a plan with all its dependencies is fine in every interleaving") {
    CHECK(opinion(exchange()).kind == Kind::Fine);
    CHECK(opinion(through_scratch(true, true)).kind == Kind::Fine);
}

TEST_CASE("exploration: a read that does not wait for its write is wrong in some interleaving only") {
    const PlanBuilder plan = through_scratch(false, true);
    const Opinion found = opinion(plan);
    CHECK(found.kind == Kind::Wrong);
    CHECK_FALSE(found.always_wrong);
    CHECK(race_between(plan, {}, at(0, 1, 0), at(0, 2, 1)) == RaceCheck::Real);
    CHECK(race_between(plan, {}, at(0, 0, 0), at(0, 2, 1)) == RaceCheck::Ordered);
    CHECK(race_between(plan, {}, at(0, 0, 0), at(0, 1, 0)) == RaceCheck::NoConflict);
    CHECK(race_between(plan, {}, at(0, 0, 0), at(0, 7, 0)) == RaceCheck::NoSuchSteps);
}

TEST_CASE("exploration: a value that is overwritten before it was sent is wrong in some interleaving only") {
    const PlanBuilder plan = through_scratch(true, false);
    const Opinion found = opinion(plan);
    CHECK(found.kind == Kind::Wrong);
    CHECK_FALSE(found.always_wrong);
    CHECK(race_between(plan, {}, at(0, 0, 0), at(0, 2, 1)) == RaceCheck::Real);
    CHECK(some_race(plan, {}).has_value());
}

TEST_CASE("exploration: two receives into one slot conflict") {
    PlanBuilder plan("alltoall", 3, 3);
    plan.out_of_place();
    plan.gpu(3, 3, 1).tb(-1, 1).step("r", "i0", "s0").signals().step("cpy", "s0", "o1");
    plan.tb(-1, 2).step("r", "i0", "s0").signals().step("cpy", "s0", "o2");
    plan.tb(1, -1).step("cpy", "i0", "o0").step("s", "i1", "o0");
    plan.tb(2, -1).step("s", "i2", "o0");
    for (std::int32_t rank = 1; rank < 3; ++rank) {
        const std::int32_t other = 3 - rank;
        const auto number = [](char buffer, std::int32_t i) { return buffer + std::to_string(i); };
        plan.gpu(3, 3)
            .tb(0, 0)
            .step("s", "i0", "s0")
            .step("r", "i0", "o0")
            .step("cpy", number('i', rank), number('o', rank));
        plan.tb(other, other).step("s", number('i', other), "o0").step("r", "i0", number('o', other));
    }
    const Opinion found = opinion(plan);
    CHECK(found.kind == Kind::Wrong);
    CHECK_FALSE(found.always_wrong);
    CHECK(found.wrong == std::set<std::pair<std::int32_t, std::int64_t>>{{0, 1}, {0, 2}});
    CHECK(race_between(plan, {}, at(0, 0, 0), at(0, 1, 0)) == RaceCheck::Real);
}

TEST_CASE("exploration: circular waits, missing signals and messages that come later hang") {
    PlanBuilder circle = through_scratch(true, true);
    circle.plan().gpus[1].blocks[1].steps[0].dep_block = plan::BlockId(2);
    circle.plan().gpus[1].blocks[1].steps[0].dep_step = plan::StepId(1);
    circle.plan().gpus[1].blocks[2].steps[1].signals = true;
    const Opinion found = opinion(circle);
    CHECK(found.kind == Kind::Hangs);
    CHECK(found.stuck == std::map<std::pair<std::int32_t, std::int32_t>, int>{{{1, 1}, 0}, {{1, 2}, 1}});

    PlanBuilder unsignalled = through_scratch(true, true);
    unsignalled.plan().gpus[0].blocks[1].steps[0].signals = false;
    CHECK(opinion(unsignalled).kind == Kind::Hangs);

    PlanBuilder receive_first = exchange();
    for (plan::Gpu& gpu : receive_first.plan().gpus) {
        std::swap(gpu.blocks[0].steps[0], gpu.blocks[0].steps[1]);
        gpu.blocks[0].steps[0].number = plan::StepId(0);
        gpu.blocks[0].steps[1].number = plan::StepId(1);
    }
    CHECK(opinion(receive_first).kind == Kind::Hangs);
}

TEST_CASE("exploration: a signal of a later step serves who waits for an earlier one") {
    PlanBuilder plan("broadcast", 2, 1);
    plan.gpu(1, 1).tb(1, -1).step("s", "i0", "o0");
    plan.gpu(1, 1, 1).tb(-1, 0).step("r", "i0", "s0").step("cpy", "i0", "i0").signals();
    plan.tb(-1, -1).step("cpy", "s0", "o0").after(0, 0);
    CHECK(opinion(plan).kind == Kind::Fine);
    plan.plan().gpus[1].blocks[0].steps[1].type = plan::StepType::Nop;
    CHECK(opinion(plan).kind == Kind::Hangs);
}

TEST_CASE("exploration: a write between the two reads of a reduction is seen") {
    // Both places hold a; the second block writes b to s0 and then to s1. As a whole, s1 += s0 leaves b or b
    // + b; if it reads s0 before the writes and s1 after them, a + b.
    PlanBuilder plan("custom", 1, 2);
    plan.out_of_place();
    plan.gpu(2, 1, 2).tb(-1, -1).step("cpy", "i0", "s0").step("cpy", "i0", "s1").signals();
    plan.step("re", "s0", "s1").signals();
    plan.tb(-1, -1).step("cpy", "i1", "s0").after(0, 1).step("cpy", "i1", "s1").signals();
    plan.tb(-1, -1).step("nop", "-", "-", 0).after(1, 1).step("cpy", "s1", "o0").after(0, 2);
    Machine machine = machine_of(plan, calls_of(plan, {})[0][0]);
    const Exploration found = explore(machine);
    const auto value = [&](const std::vector<plan::Contribution>& sum) { return machine.values.of(sum); };
    const plan::Contribution a{Rank(0), 0}, b{Rank(0), 1};
    // 2a: read a twice before the writes, written after them.
    CHECK(found.outcomes.at(0) == std::set<Value>{value({b}), value({b, b}), value({a, b}), value({a, a})});
}

TEST_CASE("exploration: FIFOs must hold what is sent before anything is received") {
    for (std::int32_t k = 1; k <= 4; ++k) {
        const Opinion single = opinion(needs(k, 1));
        CHECK(single.kind == Kind::Fine);
        CHECK(single.chunks_needed == k);
        CHECK(single.steps_needed == k);
    }
    const Opinion several = opinion(needs(2, 3));
    CHECK(several.chunks_needed == 6);
    CHECK(several.steps_needed == 2);
    CHECK(opinion(through_scratch(true, true)).chunks_needed == 1);
}

TEST_CASE("exploration: a fused step waits until what it passes on has room") {
    // Rank 0 sends two messages before it receives the first one back; rank 1 passes them on.
    PlanBuilder plan("custom", 2, 2);
    plan.gpu(2, 2, 2).tb(1, 1).step("s", "i0", "s0").step("s", "i1", "s1").step("s", "i1", "s1");
    plan.step("r", "s0", "s0").step("r", "s1", "s1").step("r", "s1", "s1");
    plan.gpu(2, 2, 2).tb(0, 0).step("rcs", "s0", "s0").step("rcs", "s1", "s1").step("rcs", "s1", "s1");
    // One in each FIFO is not enough for three on the way.
    CHECK(opinion(plan).steps_needed == 2);
}

TEST_CASE("exploration: contributions count, undefined data spoils a sum, and each mode has its aliases") {
    PlanBuilder twice("allreduce", 2, 1);
    twice.gpu(1, 1).tb(1, 1).step("s", "i0", "i0").step("rrc", "i0", "i0").step("s", "i0", "i0");
    twice.gpu(1, 1).tb(0, 0).step("s", "i0", "i0").step("rrc", "i0", "i0").step("rrc", "i0", "i0");
    CHECK(opinion(twice).always_wrong);

    PlanBuilder in_only("allreduce", 2, 1);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        in_only.gpu(1, 1).tb(1 - rank, 1 - rank).step("s", "i0", "i0").step("rrc", "o0", "o0");
    }
    CHECK(opinion(in_only).kind == Kind::Fine);
    in_only.both_modes();
    CHECK(opinion(in_only).always_wrong);
    for (plan::Gpu& gpu : in_only.plan().gpus) gpu.blocks[0].steps[1].src.buffer = plan::Buffer::Input;
    CHECK(opinion(in_only).kind == Kind::Fine);
}

TEST_CASE("exploration: some root is found, and a wrong one refused") {
    PlanBuilder plan("reduce", 3, 1);
    plan.gpu(1, 1).tb(2, -1).step("s", "i0", "o0");
    plan.gpu(1, 1).tb(-1, 2).step("rrc", "i0", "o0");
    plan.gpu(1, 1).tb(1, 0).step("rrs", "i0", "o0");
    CHECK(opinion(plan).root == 1);
    PlanQuestion question;
    question.root = 2;
    CHECK(opinion_on(plan, question).kind == Kind::Wrong);
}

TEST_CASE("exploration: with a message per chunk a fused ring may overtake its own sender") {
    // Chunk 0 comes back into the place of chunk 1 before that was read; whole messages cannot.
    PlanBuilder plan("custom", 2, 3);
    plan.gpu(3, 3).tb(1, -1).step("s", "i0", "i0", 2);
    plan.tb(-1, 1).step("r", "i0", "i1", 2);
    plan.gpu(3, 3, 2).tb(0, 0).step("rcs", "s0", "s0", 2);
    CHECK(opinion(plan).kind == Kind::Fine);
    ExploreOptions options;
    options.message_per_chunk = true;
    CHECK(opinion_on(plan, {}, options).kind == Kind::Wrong);
}

TEST_CASE("exploration: the reduced search loses no outcome, and hanging does not depend on the order") {
    test::for_seeds(test::cases(300), [&](Rng& rng, std::uint64_t seed) {
        const plan::MscclPlan plan =
            random_plan(rng, static_cast<test::PlanOrigin>(seed % test::kPlanOrigins));
        const PlanCall call = calls_of(plan, {}).front().front();
        const Opinion structure = opinion(plan);
        if (structure.kind == Kind::Structure) return;
        Machine machine = machine_of(plan, call);
        ExploreOptions options;
        options.max_states = 50'000;
        const Exploration reduced = explore(machine, options);
        options.reduced = false;
        const Exploration full = explore(machine, options);
        if (full.out_of_work) return;
        CHECK(reduced.states <= full.states);
        CHECK(reduced.wrong == full.wrong);
        CHECK(reduced.differing == full.differing);
        CHECK((reduced.hung > 0) == (full.hung > 0));
        CHECK((full.hung == 0 || full.ended == 0));
    });
}
