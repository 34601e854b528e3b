// Random plans of every format on random networks: none is faster than what is proven of its collective, and
// all end that should.

#include "app/plan_cost.hpp"
#include "io/mscclpp_json.hpp"
#include "source_dir.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_execution.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/random_plans.hpp"
#include "tests/support/sample_plans.hpp"
#include "tests/support/send_plans.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace tutti::app {
namespace {

using test::ends_with;

Topology random_topology(Rng& rng) {
    test::InstanceOptions options;
    options.max_collectives = 1;
    for (;;) {
        TopologyParts parts = test::random_instance(rng, options).topology;
        if (parts.npus >= 3) return Topology(std::move(parts));
    }
}

std::vector<NodeId> random_group(Rng& rng, const Topology& topology, std::size_t ranks) {
    std::vector<NodeId> group;
    for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) group.emplace_back(npu);
    rng.shuffle(group);
    group.resize(ranks);
    return group;
}

/// Steps in which anybody sends on what they have until all have all; or sums that go up a random tree, and
/// down another one.
plan::ScclPlan random_sends(Rng& rng, std::int32_t nodes) {
    plan::ScclPlan plan;
    plan.nodes = nodes;
    const auto draw = [&](std::int32_t below) {
        return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(below)));
    };
    const auto add = [&](std::int64_t address, plan::PlanNode src, plan::PlanNode dst, std::int64_t step) {
        plan.sends.push_back({address, src, dst, static_cast<std::int32_t>(step), 0, step});
    };
    const std::vector<plan::PlanNode> all = test::all_nodes(nodes);
    if (rng.below(2) == 0) {
        std::vector<std::vector<bool>> has(all.size(), std::vector<bool>(all.size(), false));
        std::int32_t missing = nodes * (nodes - 1);
        for (const plan::PlanNode n : all) plan.chunks.push_back({{n}, all, n.value()});
        for (std::size_t n = 0; n < all.size(); ++n) has[n][n] = true;
        for (std::int64_t step = 0; missing > 0; ++step) {
            const auto before = has;
            for (std::int32_t tries = 0; tries < nodes; ++tries) {
                const std::int32_t src = draw(nodes), dst = draw(nodes), chunk = draw(nodes);
                const auto d = static_cast<std::size_t>(dst), c = static_cast<std::size_t>(chunk);
                if (!before[static_cast<std::size_t>(src)][c] || has[d][c]) continue;
                add(chunk, test::id<plan::PlanNode>(src), test::id<plan::PlanNode>(dst), step);
                has[d][c] = true;
                --missing;
            }
        }
        plan.rounds.assign(static_cast<std::size_t>(plan.sends.back().when + 1), nodes);
        return plan;
    }
    const std::int32_t chunks = nodes * (1 + draw(2));
    for (std::int32_t c = 0; c < chunks; ++c) {
        std::vector<plan::PlanNode> order = all;
        rng.shuffle(order);
        for (const plan::PlanNode n : all) plan.chunks.push_back({{n}, all, c});
        // The parent of order[i] comes before it; deeper ones send first. A step for each keeps it simple.
        for (std::int32_t i = nodes - 1; i > 0; --i)
            add(c, order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(draw(i))],
                nodes - 1 - i);
        for (std::int32_t i = 1; i < nodes; ++i) {
            add(c, order[static_cast<std::size_t>(draw(i))], order[static_cast<std::size_t>(i)],
                nodes - 2 + i);
            plan.sends.back().replaces = true;
        }
    }
    plan.rounds.assign(static_cast<std::size_t>(2 * nodes - 2), chunks);
    std::ranges::stable_sort(plan.sends, {}, &plan::NodeSend::when);
    return plan;
}

struct RandomCall {
    plan::MscclPlan plan{};
    plan::PlanVerdict verdict{};
    std::vector<NodeId> group{};
    Bytes bytes{};
};

/// One of the sample plans on any of the NPUs; or a small random one, if it is right.
std::optional<RandomCall> random_call(Rng& rng, const Topology& topology) {
    RandomCall call;
    if (rng.below(2) == 0) {
        const std::size_t ranks = 2 + rng.below(topology.npus() - 1);
        call.plan = test::random_sample(rng, static_cast<std::int32_t>(ranks));
        call.verdict = test::believed_valid(*kind_in_plan(*call.plan.collective), 0);
        call.verdict.fifo = plan::FifoNeed{static_cast<std::int64_t>(4 + rng.below(6)), 1, 2};
    } else {
        call.plan = test::random_plan(rng, test::PlanOrigin::Algorithm);
        call.verdict = verify::verify(call.plan);
        if (!call.verdict.acceptable()) return std::nullopt;
    }
    call.group = random_group(rng, topology, static_cast<std::size_t>(call.plan.ranks));
    call.bytes = {static_cast<std::int64_t>(1 + rng.below(rng.below(2) == 0 ? 40 : 100'000))};
    return call;
}

}  // namespace

TEST_SUITE("app: plan cost properties") {
    TEST_CASE("no plan is faster than the bound of its collective") {
        std::uint64_t bounded = 0, tight = 0;
        const std::uint64_t count = test::cases(400);
        test::for_seeds(count, [&](Rng& rng, std::uint64_t) {
            const Topology topology = random_topology(rng);
            std::vector<RandomCall> calls;
            const std::size_t together = 1 + rng.below(2);
            for (std::size_t i = 0; i < together; ++i) {
                if (auto call = random_call(rng, topology)) calls.push_back(std::move(*call));
            }
            std::vector<CostJob> jobs;
            for (const RandomCall& call : calls)
                jobs.push_back({&call.plan, call.verdict, call.bytes, call.group});
            const PlanCost cost = cost_of(jobs, topology);
            if (!cost.bound) return;
            CHECK(cost.timing.makespan >= cost.bound->value);
            ++bounded;
            if (cost.gap == 0.0) ++tight;
        });
        // Bounds that nobody ever meets would prove nothing here.
        CHECK(bounded > count / 2);
        CHECK(tight > count / 20);
    }

    TEST_CASE("plans of MSCCL++ are timed on any network, above their bounds") {
        std::size_t bounded = 0;
        Rng rng(test::first_seed());
        const auto folder = std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/mscclpp-json";
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.path().extension() != ".json") continue;
            INFO(entry.path().string());
            io::Source source(entry.path().string());
            plan::ExecutionPlan plan;
            try {
                plan = io::read_mscclpp_json(source);
            } catch (const InputError&) {
                continue;
            }
            const plan::PlanVerdict verdict = verify::verify(plan);
            if (!verdict.acceptable()) continue;
            for (int i = 0; i < 20; ++i) {
                const Topology topology = random_topology(rng);
                if (topology.npus() < plan.gpus.size()) continue;
                const PlanCost cost =
                    cost_of({&plan, verdict, Bytes{1 + static_cast<std::int64_t>(rng.below(9999))},
                             random_group(rng, topology, plan.gpus.size())},
                            topology);
                if (cost.bound) ++bounded;
            }
        }
        CHECK(bounded > 50);
    }

    TEST_CASE("a plan of MSCCL++ that always ends, ends when it is timed") {
        std::uint64_t timed = 0;
        const std::uint64_t count = test::cases(800);
        test::for_seeds(count, [&](Rng&, std::uint64_t seed) {
            const test::RandomExecution random = test::random_execution(seed);
            const plan::ExecutionPlan& plan = random.plan;
            const plan::PlanVerdict verdict = verify::verify(plan);
            if (!verdict.acceptable()) return;
            INFO(random.text);
            CHECK_NOTHROW((void)cost_of({&plan, verdict}, Topology(test::star(2, {}, 3, 7).parts())));
            ++timed;
        });
        CHECK(timed > count / 50);
    }

    TEST_CASE("no plan of sends is faster than the bound of its collective") {
        std::uint64_t bounded = 0, tight = 0;
        const std::uint64_t count = test::cases(300);
        test::for_seeds(count, [&](Rng& rng, std::uint64_t) {
            const Topology topology = random_topology(rng);
            const std::size_t nodes = 2 + rng.below(topology.npus() - 1);
            const plan::ScclPlan plan = random_sends(rng, static_cast<std::int32_t>(nodes));
            const plan::PlanVerdict verdict = verify::verify(plan);
            REQUIRE(verdict.verdict == plan::PlanClass::Valid);
            const Bytes bytes{static_cast<std::int64_t>(1 + rng.below(9999))};
            const PlanCost cost =
                cost_of({&plan, verdict, bytes, random_group(rng, topology, nodes)}, topology);
            REQUIRE(cost.bound);
            ++bounded;
            if (cost.gap == 0.0) ++tight;
        });
        CHECK(bounded == count);
        CHECK(tight > count / 50);
    }

    TEST_CASE("timing hangs with exactly the FIFOs with which the verifier says that a plan hangs") {
        std::uint64_t compared = 0, deep = 0;
        const std::uint64_t count = test::cases(800);
        test::for_seeds(count, [&](Rng& rng, std::uint64_t) {
            const auto origin = static_cast<test::PlanOrigin>(rng.below(test::kPlanOrigins));
            const plan::MscclPlan plan = test::random_plan(rng, origin);
            const plan::PlanVerdict verdict = verify::verify(plan);
            if (!verdict.acceptable()) return;
            const Topology hub(test::star(static_cast<std::uint32_t>(plan.ranks), {}, 3, 7).parts());
            CHECK(ends_with(plan, hub, verdict.fifo->chunks));
            CHECK_FALSE(ends_with(plan, hub, verdict.fifo->chunks - 1));
            ++compared;
            if (verdict.fifo->chunks > 1) ++deep;
        });
        CHECK(compared > count / 8);
        CHECK(deep > 0);
    }
}

}  // namespace tutti::app
