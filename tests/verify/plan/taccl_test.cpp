// Plans whose sends have times.

#include "io/sccl_json.hpp"
#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;
using plan::kFinePerTime;
using plan::ScclPlan;

namespace {

ScclPlan real() {
    io::Source source(
        step_file("Alltoall.n8-MI300X-DUMB-MI300X-DUMB-steps2-tacclsol-improve-1736374135_taccl.sccl.json"));
    return io::read_sccl_json(source);
}

/// address, src, dst, time; every link takes ten units.
ScclPlan timed(std::int32_t nodes, std::vector<plan::SendChunk> chunks,
               const std::vector<std::vector<std::int64_t>>& sends) {
    ScclPlan plan = step_plan(nodes, std::move(chunks), {sends});
    plan.clock = plan::SendClock::Times;
    plan.has_latencies = true;
    for (plan::ScclLink& link : plan.links) link.beta = 10 * kFinePerTime;
    for (std::size_t i = 0; i < sends.size(); ++i) {
        plan.sends[i].when = sends[i][3];
        plan.sends[i].list = static_cast<std::int32_t>(i);
        plan.sends[i].replaces = true;
    }
    return plan;
}

const std::vector<plan::SendChunk> kBroadcast{{{0_n}, {0_n, 1_n, 2_n}, 0}};

}  // namespace

TEST_CASE("an all-to-all of TACCL is valid, in the time that its links take") {
    const auto verdict = judged(real());
    CHECK(told(verdict) == "valid");
    CHECK(warned(verdict) == "");
    CHECK(verdict.collective == "alltoall");
    CHECK(verdict.mode == "times");
    CHECK(verdict.own_cost == "369.2 us");
}

TEST_CASE("a send that starts before its chunk has arrived carries nothing") {
    ScclPlan plan = real();
    // Three chunks leave node 4 for node 0 together at time 0 and take 26 + 3 * 910.
    auto& relay = *std::ranges::find_if(
        plan.sends, [](const plan::NodeSend& send) { return send.address == 12 && send.src == 0_n; });
    relay.when = 2756;
    CHECK(told(plan) == "valid");
    relay.when = 2755;
    CHECK(told(plan) == "invalid: not-held value");
}

TEST_CASE("times are truncated to whole units, so that a chunk may seem to be up to a unit late") {
    auto plan = timed(3, kBroadcast, {{0, 0, 1, 0}, {0, 1, 2, 10}});
    plan.links[0].alpha = kFinePerTime / 2;
    CHECK(told(plan) == "valid");
    plan.links[0].alpha = kFinePerTime;
    CHECK(told(plan) == "invalid: not-held value");
}

TEST_CASE("chunks that leave a machine together pay the latency once and arrive together") {
    auto plan = timed(3, {{{0_n}, {2_n}, 0}, {{0_n}, {2_n}, 1}},
                      {{0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 2, 25}, {1, 1, 2, 35}});
    for (plan::ScclLink& link : plan.links) link.alpha = 5 * kFinePerTime;
    CHECK(told(plan) == "valid");
    plan.sends[2].when = 23;
    CHECK(told(plan) == "invalid: not-held value");
}

TEST_CASE("without latencies only the order of sends is judged") {
    auto plan = timed(3, kBroadcast, {{0, 0, 1, 0}, {0, 1, 2, 1}});
    CHECK(told(plan) == "invalid: not-held value");
    plan.has_latencies = false;
    CHECK(told(plan) == "valid");
    CHECK(warned(judged(plan)).find("lacks") != std::string::npos);
    plan.sends[1].when = 0;
    CHECK(told(plan) == "invalid: not-held value");
}

TEST_CASE("lanes and links of a timed plan must be there") {
    auto plan = timed(3, kBroadcast, {{0, 0, 1, 0}, {0, 1, 2, 10}});
    CHECK(told(plan) == "valid");
    plan.sends[0].lane = 1;
    CHECK(told(plan) == "invalid: link");
    plan.links[0].capacity = 2;
    CHECK(told(plan) == "valid");
}

TEST_CASE("transfers that overlap on a link are warned of, for TACCL's own files have them") {
    auto plan = timed(2, {{{0_n}, {1_n}, 0}, {{0_n}, {1_n}, 1}}, {{0, 0, 1, 0}, {1, 0, 1, 10}});
    CHECK(warned(judged(plan)) == "");
    plan.sends[1].when = 9;
    CHECK(told(plan) == "valid");
    CHECK(warned(judged(plan)) == "bandwidth");
    plan.links[0].capacity = 2;
    plan.sends[1].lane = 1;
    CHECK(warned(judged(plan)) == "");
}

TEST_CASE("a timed send replaces unless it is marked as adding") {
    auto plan = timed(2, all_reduce_chunks(2), {{0, 0, 1, 0}, {0, 1, 0, 10}});
    plan.sends[0].replaces = false;
    CHECK(told(plan) == "valid");
    plan.sends[1].replaces = false;
    CHECK(told(plan) == "invalid: value");
    plan.sends[0].replaces = plan.sends[1].replaces = true;
    CHECK(told(plan) == "invalid: value value");
}

// TACCL starts the all-gather of an all-reduce right after the last send of its reduce-scatter has started,
// not arrived; its lowering goes by steps and waits.
TEST_CASE("an all-reduce of TACCL is judged with its second phase as late as the first needs") {
    auto plan = timed(2, all_reduce_chunks(2), {{0, 0, 1, 0}, {0, 1, 0, 1}});
    plan.sends[0].replaces = false;
    const auto verdict = judged(plan);
    CHECK(told(verdict) == "valid");
    CHECK(warned(verdict) == "early");
    CHECK(verdict.own_cost == "2.0 us");
    CHECK(verdict.warnings[0].message.find("they are judged 9 later") != std::string::npos);
}

TEST_CASE("sums that several sends of one step add to are warned of: TACCL lowers them to a race") {
    const std::vector<plan::SendChunk> sum{{{0_n}, {2_n}, 0}, {{1_n}, {2_n}, 0}, {{2_n}, {2_n}, 0}};
    auto plan = timed(3, sum, {{0, 0, 2, 0}, {0, 1, 2, 0}});
    plan.sends[0].replaces = plan.sends[1].replaces = false;
    CHECK(told(plan) == "valid");
    CHECK(warned(judged(plan)) == "");
    plan.sends[1].list = 0;
    CHECK(told(plan) == "valid");
    CHECK(warned(judged(plan)) == "same-step");
}
