// The plan verifier against exhaustive exploration: random small plans, right ones, broken ones and senseless
// ones. Every verdict must be the one that running all interleavings gives (tests/support/plan_agreement.hpp
// says what that means).

#include "io/msccl_xml.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/plan_agreement.hpp"
#include "tests/support/plan_ids.hpp"
#include "tests/support/random_plans.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace tutti;
using namespace tutti::test;

namespace {

using Tally = std::map<std::string, std::uint64_t>;

std::int32_t any(Rng& rng, std::int32_t limit) {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(limit)));
}

/// What the plan's collective asks for, said from outside; the plan itself then calls itself custom.
plan::Condition said_outside(plan::MscclPlan& plan) {
    plan::Condition condition;
    const std::int32_t ranks = plan.ranks, block = plan.chunks_per_loop / ranks;
    for (std::int32_t g = 0; g < ranks; ++g) {
        for (std::int32_t c = 0; c < plan.chunks_per_loop; ++c) {
            auto& sum = condition.outputs[test::id<Rank>(g)][c];
            if (plan.collective == "alltoall") sum = {{test::id<Rank>(c / block), g * block + c % block}};
            for (std::int32_t r = 0; r < ranks && plan.collective == "allreduce"; ++r)
                sum.push_back({test::id<Rank>(r), c});
        }
    }
    plan.collective = "custom";
    return condition;
}

/// One in five is asked with another reading, and may be changed so that the reading matters.
oracle::PlanQuestion random_question(plan::MscclPlan& plan, Rng& rng) {
    oracle::PlanQuestion question;
    switch (rng.below(25)) {
        case 0:
            question.operand_is_destination = true;
            break;
        case 1:
            if (plan.collective != "custom") break;
            question.goal = rng.below(2) == 0 ? CollectiveKind::AllReduce : CollectiveKind::SendRecv;
            break;
        case 2:
            question.root = any(rng, plan.ranks);
            break;
        case 3:
            for (plan::Gpu& gpu : plan.gpus) {
                if (gpu.input_chunks < 1 || gpu.output_chunks < 1 || rng.below(2) == 0) continue;
                gpu.copies.push_back({any(rng, gpu.input_chunks), any(rng, gpu.output_chunks)});
            }
            question.copies_first = rng.below(3) != 0;
            break;
        case 4:
            if (plan.collective == "allreduce" || plan.collective == "alltoall")
                question.condition = said_outside(plan);
            break;
        default:
            break;
    }
    return question;
}

void show(const plan::MscclPlan& plan, const oracle::PlanQuestion& question) {
    const plan::MscclPlan small =
        shrunk(plan, [&](const plan::MscclPlan& p) { return !compare(p, question).difference.empty(); });
    const PlanComparison found = compare(small, question);
    FAIL_CHECK("the verifier " << found.difference << "\n  exploration: " << found.kind
                               << "\n  verifier: " << found.verdict << "\n"
                               << io::msccl_xml_text(small));
}

}  // namespace

TEST_CASE("the verdict on a plan is what all its interleavings say") {
    Tally tally;
    const std::uint64_t count = cases(6000);
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        plan::MscclPlan plan = random_plan(rng, static_cast<PlanOrigin>(seed % kPlanOrigins));
        const oracle::PlanQuestion question = random_question(plan, rng);
        const PlanComparison found = compare(plan, question);
        if (!found.difference.empty()) show(plan, question);
        ++tally[found.kind];
        if (found.needs_buffers) ++tally["needs buffers"];
    });
    std::string text;
    for (const auto& [kind, times] : tally) text += "  " + kind + " " + std::to_string(times);
    MESSAGE("of " << count << " plans:" << text);
    if (count < 1000) return;
    // Each kind is there often enough to mean something.
    CHECK(tally["valid"] > count / 4);
    CHECK(tally["deadlock"] > count / 20);
    CHECK(tally["race"] > count / 20);
    CHECK(tally["value"] > count / 20);
    CHECK(tally["structure"] > count / 50);
    CHECK(tally["harmless race"] > count / 200);
    CHECK(tally["needs buffers"] > count / 200);
    CHECK(tally["undecided"] < count / 50);
}
