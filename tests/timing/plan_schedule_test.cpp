// Timed plans against the verifier of schedules: what the simulator says happened on the links must be a
// valid schedule of the same collective, with the same makespan.

#include "app/plan_bound.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/sample_plans.hpp"
#include "timing/plan_timing.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <set>
#include <tuple>

namespace tutti {
namespace {

timing::TimingOptions random_options(Rng& rng, const Topology& topology, std::size_t ranks) {
    timing::TimingOptions timing_options;
    std::vector<NodeId> npus;
    for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) npus.emplace_back(npu);
    rng.shuffle(npus);
    npus.resize(ranks);
    timing_options.group = npus;
    timing_options.bytes = {static_cast<std::int64_t>(1 + rng.below(100'000))};
    timing_options.fifo_capacity = static_cast<std::int64_t>(4 + rng.below(5));
    return timing_options;
}

/// Of copies of one chunk that get to a cut-through switch at one tick, a schedule cannot say which goes on
/// where.
bool is_ambiguous(const Topology& topology, const Schedule& schedule) {
    std::set<std::tuple<ChunkId, NodeId, Ticks>> seen;
    return std::ranges::any_of(schedule.sends, [&](const Send& send) {
        const Link& link = topology.link(send.link);
        return topology.is_cut_through(link.dst) &&
               !seen.emplace(send.chunk, link.dst, send.start + link.wire.alpha).second;
    });
}

/// What arrives at a relay of a reduction replaces the relay's own contribution in a schedule, not in a plan.
bool can_be_a_schedule(const timing::JobTiming& job) {
    const bool reduces = job.goal == CollectiveKind::AllReduce || job.goal == CollectiveKind::Reduce;
    return !reduces || job.relayed == 0;
}

}  // namespace

TEST_SUITE("timing: properties") {
    TEST_CASE("what the links do is a valid schedule of the plan's collective, with the same makespan") {
        std::uint64_t judged = 0;
        const std::uint64_t count = test::cases(2000);
        test::for_seeds(count, [&](Rng& rng, std::uint64_t) {
            test::InstanceOptions options;
            options.max_collectives = 1;
            TopologyParts parts = test::random_instance(rng, options).topology;
            for (SwitchRule& rule : parts.switches) rule.buffer.reset();  // which timing does not heed
            const Topology topology(std::move(parts));
            if (topology.npus() < 2) return;
            const std::size_t ranks = 2 + rng.below(topology.npus() - 1);
            const plan::MscclPlan plan = test::random_sample(rng, static_cast<std::int32_t>(ranks));
            const timing::TimedJob job{&plan, random_options(rng, topology, ranks)};
            const timing::PlanTiming timing = timing::time_plans({&job, 1}, topology, true);
            if (!can_be_a_schedule(timing.jobs[0])) return;
            const app::BoundJob asked{timing.jobs[0], timing.jobs[0].goal, Rank(0)};
            const auto instance = app::instance_of({&asked, 1}, topology);
            REQUIRE(instance);
            const Schedule schedule = test::schedule_of(plan, timing, *instance);
            if (is_ambiguous(topology, schedule)) return;
            const Verdict verdict = verify::verify(*instance, schedule);
            INFO(test::json_of(*instance), "\n", plan.collective.value());
            INFO((verdict.valid() ? std::string() : verdict.violations.front().message));
            CHECK(verdict.valid());
            CHECK(verdict.makespan == timing.makespan);
            ++judged;
        });
        CHECK(judged > count / 2);
    }
}

}  // namespace tutti
