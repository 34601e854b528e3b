// The plan verifier against exhaustive exploration: random small plans, right ones, broken ones and senseless
// ones. Every verdict must be the one that running all interleavings gives (tests/support/plan_agreement.hpp
// says what that means).

#include "io/msccl_xml.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/plan_agreement.hpp"
#include "tests/support/random_plans.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace tutti;
using namespace tutti::test;

namespace {

using Tally = std::map<std::string, std::uint64_t>;

/// One in eight is asked with another reading.
oracle::PlanQuestion random_question(const plan::MscclPlan& plan, Rng& rng) {
    oracle::PlanQuestion question;
    if (rng.below(8) != 0) return question;
    if (rng.below(2) == 0)
        question.operand_is_destination = true;
    else if (plan.collective == "custom")
        question.goal = rng.below(2) == 0 ? plan::Goal::AllReduce : plan::Goal::SendRecv;
    else
        question.root = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(plan.ranks)));
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
    const std::uint64_t count = cases(4000);
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const plan::MscclPlan plan = random_plan(rng, static_cast<PlanOrigin>(seed % kPlanOrigins));
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
