// Plans in steps: SCCL's rules, one by one, and the files of msccl-tools.

#include "io/sccl_json.hpp"
#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;
using plan::ScclPlan;
using plan::SendChunk;

namespace {

ScclPlan file(const std::string& name) {
    io::Source source(step_file(name));
    return io::read_sccl_json(source);
}

/// Three nodes, all exchanged at once.
ScclPlan gathered() {
    return step_plan(3, all_gather_chunks(3),
                     {{{0, 0, 1}, {0, 0, 2}, {1, 1, 0}, {1, 1, 2}, {2, 2, 0}, {2, 2, 1}}});
}

}  // namespace

TEST_CASE("algorithms that msccl-tools synthesised are valid as what they are") {
    struct Case {
        const char *name, *collective, *cost;
    };
    for (const Case& each :
         {Case{"Allgather.n4-Ring.n4-steps2.msccl.json", "allgather", "2 steps, 2 rounds"},
          Case{"Allgather.n8-DGX1-steps2.rounds3.chunks2.msccl.json", "allgather", "2 steps, 3 rounds"},
          Case{"Allgather.n4-Line.n4-steps3.rounds5.pipeline2.msccl.json", "allgather", "3 steps, 5 rounds"},
          Case{"ReduceScatter.n4-Ring.n4-steps2.msccl.json", "reduce_scatter", "2 steps, 2 rounds"},
          Case{"Allreduce.n4-Ring.n4-steps2.msccl.json", "allreduce", "2 steps, 2 rounds"},
          Case{"Alltoall.n4-Star.n4-steps4.msccl.json", "alltoall", "4 steps, 4 rounds"},
          Case{"Broadcast.n4.root1-Ring.n4-steps2.msccl.json", "broadcast", "2 steps, 2 rounds"},
          Case{"Reduce.n4.root0-Ring.n4-steps2.msccl.json", "reduce", "2 steps, 2 rounds"},
          Case{"Scan.n4-Line.n4-steps3.msccl.json", "Scan(n=4)", "3 steps, 3 rounds"}}) {
        CAPTURE(each.name);
        const auto verdict = judged(file(each.name));
        CHECK(told(verdict) == "valid");
        CHECK(verdict.collective == each.collective);
        CHECK(verdict.own_cost == each.cost);
        CHECK(verdict.mode == "steps");
        CHECK(verdict.format == "sccl-json");
    }
    CHECK(judged(file("Broadcast.n4.root1-Ring.n4-steps2.msccl.json")).root == Rank(1));
}

// `msccl compose allreduce` joins a reduce-scatter of four addresses and an all-gather, but describes them by
// a collective of one address: three quarters of the sends move what no chunk has, and the all-gather adds
// complete sums to the partial ones that nodes already have.
TEST_CASE("the all-reduce that msccl-tools composes counts contributions twice and moves unknown addresses") {
    const auto verdict = judged(file("Allreduce.n4-Ring.n4-steps4.msccl.json"));
    CHECK(verdict.verdict == plan::PlanClass::Invalid);
    CHECK(verdict.violations[0].code == "not-held");
    CHECK(verdict.violations[0].message.find("no chunk has that address") != std::string::npos);
    CHECK(told(verdict).find(" value") != std::string::npos);
}

TEST_CASE("a send carries what its source has before the step, not what arrives in it") {
    CHECK(told(gathered()) == "valid");
    const auto relayed = step_plan(3, {{{0_n}, {0_n, 1_n, 2_n}, 0}}, {{{0, 0, 1}}, {{0, 1, 2}}});
    CHECK(told(relayed) == "valid");
    const auto at_once = step_plan(3, {{{0_n}, {0_n, 1_n, 2_n}, 0}}, {{{0, 0, 1}, {0, 1, 2}}});
    const auto verdict = judged(at_once);
    CHECK(told(verdict) == "invalid: not-held value");
    CHECK(verdict.violations[0].message ==
          "node 1 sends address 0 to node 2 in step 0, but does not have it then: node 0 sends it there in "
          "step 0");
    CHECK(verdict.violations[0].place.gpu == Rank(1));
    CHECK(verdict.violations[0].place.step == plan::StepId(0));
    CHECK(verdict.violations[0].place.inner == plan::StepId(1));
    CHECK(verdict.violations[1].message == "node 2 has nothing of address 0 in the end");
}

TEST_CASE("a chunk that no send ever brings is reported as such") {
    const auto plan = step_plan(3, {{{0_n}, {2_n}, 0}}, {{{0, 1, 2}}});
    CHECK(judged(plan).violations[0].message ==
          "node 1 sends address 0 to node 2 in step 0, but never has it");
}

TEST_CASE("every node of the postcondition must get its chunk") {
    auto plan = gathered();
    plan.sends.pop_back();
    CHECK(told(plan) == "invalid: value");
    plan.chunks[2].post = {0_n, 2_n};
    CHECK(told(plan) == "valid");
}

TEST_CASE("a step of a plan sends only over links that are there") {
    auto plan = gathered();
    std::erase_if(plan.links, [](const plan::ScclLink& link) { return link.src == 1_n && link.dst == 2_n; });
    const auto verdict = judged(plan);
    CHECK(told(verdict) == "invalid: link");
    CHECK(verdict.violations[0].message ==
          "node 1 sends address 1 to node 2 in step 0, but there is no such link");
    plan.has_links = false;
    CHECK(told(plan) == "valid");
    CHECK(warned(judged(plan)) == "lacks");
}

TEST_CASE("a send to a nonexistent node is reported, and carries nothing") {
    auto plan = gathered();
    plan.sends[0].dst = 7_n;
    CHECK(told(plan) == "invalid: link value");
    plan.sends[0] = {0, 9_n, 1_n, 0, 0, 0, -1, 0, false};
    CHECK(told(plan) == "invalid: link value");
}

TEST_CASE("a link carries no more chunks in a step than its bandwidth times the rounds") {
    auto plan = step_plan(2, {{{0_n}, {1_n}, 0}, {{0_n}, {1_n}, 1}, {{0_n}, {1_n}, 2}},
                          {{{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}});
    plan.rounds[0] = 3;
    CHECK(told(plan) == "valid");
    plan.rounds[0] = 2;
    const auto verdict = judged(plan);
    CHECK(told(verdict) == "invalid: bandwidth");
    CHECK(verdict.violations[0].message ==
          "step 0 sends 3 chunks over the link 0 -> 1, which carries 1 per round, in 2 rounds");
    plan.links[0].capacity = 2;
    CHECK(told(plan) == "valid");
}

TEST_CASE("a switch limits all sends from its sources to its destinations together") {
    auto plan = gathered();
    plan.switches = {{{0_n}, {1_n, 2_n}, 2, "out of 0"}, {{0_n, 1_n, 2_n}, {0_n}, 2, "into 0"}};
    CHECK(told(plan) == "valid");
    plan.switches[0].capacity = 1;
    CHECK(told(plan) == "invalid: bandwidth");
    CHECK(judged(plan).violations[0].message ==
          "step 0 sends 2 chunks over the switch out of 0, which carries 1 per round, in 1 rounds");
    plan.switches = {{{0_n, 1_n, 2_n}, {0_n}, 1, "into 0"}};
    CHECK(told(plan) == "invalid: bandwidth");
}

TEST_CASE("steps of a pipelined plan that run at once share their links") {
    auto plan = step_plan(2, {{{0_n}, {1_n}, 0}, {{0_n}, {1_n}, 1}}, {{{0, 0, 1}}, {}, {{1, 0, 1}}});
    CHECK(told(plan) == "valid");
    plan.pipeline = 2;
    CHECK(told(plan) == "invalid: bandwidth");
    plan.rounds[0] = 2;
    CHECK(told(plan) == "valid");
    plan.rounds[0] = 1;
    plan.pipeline = 3;
    CHECK(told(plan) == "valid");
}

TEST_CASE("contributions at one address are added, each once") {
    const auto sums = all_reduce_chunks(2);
    CHECK(told(step_plan(2, sums, {{{0, 0, 1}, {0, 1, 0}}})) == "valid");
    const auto again = step_plan(2, sums, {{{0, 0, 1}, {0, 1, 0}}, {{0, 0, 1}}});
    const auto verdict = judged(again);
    CHECK(told(verdict) == "invalid: value");
    CHECK(verdict.violations[0].message ==
          "node 0 sends address 0 to node 1 in step 1, which already has some of the contributions in it: "
          "that of "
          "node 0 is counted twice");
}

TEST_CASE("two sums that meet in one step must not share a contribution") {
    // Nodes 1 and 2 both have that of node 0 when they send to node 3.
    const std::vector<SendChunk> sums{
        {{0_n}, {3_n}, 0}, {{1_n}, {3_n}, 0}, {{2_n}, {3_n}, 0}, {{3_n}, {3_n}, 0}};
    const auto plan = step_plan(4, sums, {{{0, 0, 1}, {0, 0, 2}}, {{0, 1, 3}, {0, 2, 3}}});
    CHECK(told(plan) == "invalid: value");
    const auto right = step_plan(4, sums, {{{0, 0, 1}}, {{0, 1, 3}, {0, 2, 3}}});
    CHECK(told(right) == "valid");
}

TEST_CASE("a sum in the end lacks nothing and has nothing that was not asked for") {
    std::vector<SendChunk> sums{{{0_n}, {2_n}, 5}, {{1_n}, {2_n}, 5}, {{2_n}, {2_n}, 5}};
    const auto lacking = judged(step_plan(3, sums, {{{5, 0, 2}}}));
    CHECK(told(lacking) == "invalid: value");
    CHECK(lacking.violations[0].message.find("missing (1,5)") != std::string::npos);
    // A prefix sum: node 1 must not have the contribution of node 2.
    sums = {{{0_n}, {0_n, 1_n, 2_n}, 5}, {{1_n}, {1_n, 2_n}, 5}, {{2_n}, {2_n}, 5}};
    CHECK(told(step_plan(3, sums, {{{5, 0, 1}}, {{5, 1, 2}}})) == "valid");
    const auto more = judged(step_plan(3, sums, {{{5, 0, 1}}, {{5, 1, 2}, {5, 2, 1}}}));
    CHECK(told(more) == "invalid: value");
    CHECK(more.violations[0].message.find("not asked for (2,5)") != std::string::npos);
}

TEST_CASE("a chunk sent where it is already is only worth a warning") {
    auto plan = step_plan(2, {{{0_n}, {1_n}, 0}}, {{{0, 0, 1}}, {{0, 0, 1}}});
    CHECK(told(plan) == "valid");
    CHECK(warned(judged(plan)) == "redundant");
}

TEST_CASE("reading what the same step writes is clear here, but msccl-tools cannot lower it") {
    const auto verdict = judged(step_plan(2, all_reduce_chunks(2), {{{0, 0, 1}, {0, 1, 0}}}));
    CHECK(told(verdict) == "valid");
    CHECK(warned(verdict) == "same-step");
}

TEST_CASE("the chunks must make the collective that was asked for") {
    CHECK(told(gathered(), as(CollectiveKind::AllGather)) == "valid");
    const auto verdict = judged(gathered(), as(CollectiveKind::AllToAll));
    CHECK(told(verdict) == "invalid: collective");
    CHECK(verdict.violations[0].message == "the chunks in the file make allgather, not alltoall");
    auto labelled = gathered();
    labelled.runtime = "alltoall";
    CHECK(told(labelled) == "valid");
    CHECK(warned(judged(labelled)) == "collective");
    const auto cast = step_plan(2, {{{1_n}, {0_n, 1_n}, 0}}, {{{0, 1, 0}}});
    auto reading = as(CollectiveKind::Broadcast);
    CHECK(judged(cast, reading).root == Rank(1));
    reading.root = Rank(0);
    CHECK(told(cast, reading) == "invalid: root");
}

TEST_CASE("metadata of a file that contradicts its sends is a warning") {
    auto plan = gathered();
    plan.remarks = {"the instance says 2 steps, there are 1"};
    CHECK(warned(judged(plan)) == "claim");
    plan = gathered();
    plan.rounds[0] = 5;
    plan.extra_rounds = 1;
    CHECK(warned(judged(plan)) == "claim");
}

TEST_CASE("a condition for buffers is ignored for plans of sends, with a warning") {
    verify::PlanReading reading;
    reading.condition.emplace();
    CHECK(told(gathered(), reading) == "valid");
    CHECK(warned(judged(gathered(), reading)) == "ignored");
}

TEST_CASE("only so many violations are spelled out, all are counted") {
    auto plan = step_plan(2, {}, {{{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}}});
    plan.rounds[0] = 4;
    verify::PlanReading reading;
    reading.max_findings = 2;
    const auto verdict = judged(plan, reading);
    CHECK(verdict.violations.size() == 2);
    CHECK(verdict.violation_count == 4);
}

TEST_CASE("sums that would take gigabytes to write down are refused") {
    // Every second contribution goes from node to node: each value is some ten thousand parts long.
    constexpr std::int32_t kContributions = 200'000;
    std::vector<SendChunk> chunks;
    for (std::int32_t i = 0; i < kContributions; ++i) chunks.push_back({{id<plan::PlanNode>(i % 2)}, {}, 0});
    const auto verdict = judged(step_plan(3, std::move(chunks), {{{0, 0, 2}}}));
    CHECK(told(verdict) == "malformed: too-large");
}
