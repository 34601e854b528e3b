#include "app/plan_cost.hpp"

#include "cli/plan_cost_text.hpp"
#include "core/generators/ring.hpp"
#include "io/msccl_xml.hpp"
#include "source_dir.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/sample_plans.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

namespace tutti::app {
namespace {
using test::ends_with;

std::map<std::string, std::string> facts(const PlanCost& cost, const Topology& topology) {
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : cli::facts_of(cost, topology)) all[name] = value.str();
    return all;
}

Topology one_way_ring(std::uint64_t npus) {
    return Topology(
        generators::ring(npus, Wire{Ticks(500), Ticks(0), Decimal{1, 0}}, generators::Direction::OneWay));
}

std::filesystem::path data() { return std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/plan-cost"; }

plan::MscclPlan read(const std::string& name) {
    io::Source source((data() / name).string());
    return io::read_msccl_xml(source);
}

}  // namespace

TEST_SUITE("app: plan cost") {
    TEST_CASE("a ring all-gather on a one-way ring is optimal, with gap 0") {
        const Topology topology = one_way_ring(4);
        const auto plan = test::ring_all_gather(4);
        const auto verdict = test::believed_valid(CollectiveKind::AllGather);
        const PlanCost cost = cost_of({&plan, verdict, Bytes{4096}}, topology);
        REQUIRE(cost.bound);
        CHECK(cost.bound->value == Ticks(3 * (500 + 1'024'000)));
        CHECK(cost.gap == 0.0);
        const io::Json json = json_of(cost, topology);
        CHECK(json["makespan"] == 3 * (500 + 1'024'000));
        CHECK(json["lower_bound"] == json["makespan"]);
        CHECK(json["gap"] == 0.0);
        CHECK(json["bytes"] == 4096);
        CHECK(json["chunk_bytes"] == 1024);
        CHECK(json["links"].size() == 4);
        CHECK(json["links"][0]["bytes"] == 3 * 1024);
        CHECK(json["links"][0]["utilisation"] == doctest::Approx(3 * 1'024'000 / (3 * 1'024'500.0)));
        CHECK(json["algbw_GBps"].get<double>() == doctest::Approx(4096 / 3073.5 * 1.0));
        const auto said = facts(cost, topology);
        CHECK(said.at("gap").starts_with("0.0 %"));
        CHECK(said.at("links").starts_with("4 of 4 used; busiest link 0 (0 -> 1) 100.0 %"));
        CHECK_FALSE(said.contains("note"));
    }

    TEST_CASE("a worse plan has a gap, a plan without a known collective has none") {
        const Topology topology = one_way_ring(4);
        const auto plan = test::pairs_all_gather(4);
        auto verdict = test::believed_valid(CollectiveKind::AllGather);
        const PlanCost cost = cost_of({&plan, verdict, Bytes{4096}}, topology);
        REQUIRE(cost.gap);
        CHECK(*cost.gap > 0.5);
        CHECK(facts(cost, topology).at("note").starts_with("8 of 12 connections lead through other NPUs"));
        verdict.verdict = plan::PlanClass::StructureOnly;
        const PlanCost unknown = cost_of({&plan, verdict, Bytes{4096}}, topology);
        CHECK(unknown.timing.makespan == cost.timing.makespan);
        CHECK_FALSE(unknown.bound);
        CHECK(json_of(unknown, topology)["lower_bound"].is_null());
        verdict.verdict = plan::PlanClass::Valid;
        verdict.collective = "custom";
        CHECK_FALSE(cost_of({&plan, verdict, Bytes{4096}}, topology).bound);
    }

    TEST_CASE("a plan that needs deeper FIFOs is timed with them") {
        const Topology topology = one_way_ring(3);
        const auto plan = test::ring_all_gather(3, 4);
        auto verdict = test::believed_valid(CollectiveKind::AllGather);
        verdict.fifo = plan::FifoNeed{5, 1, 2};
        CHECK_THROWS_AS(
            (void)cost_of({&plan, test::believed_valid(CollectiveKind::AllGather), Bytes{4096}}, topology),
            InputError);
        verdict.verdict = plan::PlanClass::ValidIfBuffered;
        const PlanCost cost = cost_of({&plan, verdict, Bytes{4096}}, topology);
        CHECK(cost.bound);
        CHECK(facts(cost, topology).at("note").starts_with("timed with connections that hold 5 messages"));
    }

    TEST_CASE("an all-reduce of fewer chunks than ranks has a bound too") {
        // One chunk up and down a tree; a reduce-scatter of it is not possible, so it must travel whole.
        const Topology topology(test::line(3, 1, 9).parts());
        auto plan = test::tree_reduce({-1, 0, 1});
        const auto down = test::tree_broadcast({-1, 0, 1});
        plan.collective = "allreduce";
        for (std::size_t r = 0; r < 3; ++r) {
            for (plan::ThreadBlock block : down.gpus[r].blocks) {
                block.id = plan::BlockId(block.id.index() + plan.gpus[r].blocks.size());
                block.channel = plan::ChannelId(1);
                if (r == 0)
                    block.steps[0].dep_block = plan::BlockId(0), block.steps[0].dep_step = plan::StepId(0);
                plan.gpus[r].blocks.push_back(block);
            }
        }
        const PlanCost cost = cost_of({&plan, test::believed_valid(CollectiveKind::AllReduce)}, topology);
        CHECK(cost.timing.makespan == Ticks(40));
        REQUIRE(cost.bound);
        CHECK(cost.bound->value >= Ticks(20));
        CHECK(cost.timing.jobs[0].chunks == 1);
    }

    TEST_CASE("plans that run together are compared with the bound of all of them") {
        const Topology topology(test::line(4, 0, 10).parts());
        const auto plan = test::ring_all_gather(2);
        const auto verdict = test::believed_valid(CollectiveKind::AllGather);
        const std::vector<CostJob> jobs{{&plan, verdict, {}, test::nodes({0, 1})},
                                        {&plan, verdict, {}, test::nodes({0, 2})}};
        const PlanCost cost = cost_of(jobs, topology);
        CHECK(cost.timing.makespan == Ticks(30));
        REQUIRE(cost.bound);
        CHECK(cost.bound->value >= Ticks(20));
        CHECK(json_of(cost, topology)["jobs"].size() == 2);
    }

    TEST_CASE("a custom plan is bounded by its condition as the collective that it stands for") {
        const Topology topology = one_way_ring(4);
        const auto check = [&](const plan::MscclPlan& plan, CollectiveKind goal,
                               const plan::Condition& condition) {
            const auto named = test::believed_valid(goal),
                       custom = test::believed_valid(CollectiveKind::Custom);
            const PlanCost known = cost_of({&plan, named, Bytes{4096}}, topology);
            const PlanCost asked =
                cost_of({&plan, custom, Bytes{4096}, {}, std::make_shared<const plan::Condition>(condition)},
                        topology);
            REQUIRE(known.bound);
            REQUIRE(asked.bound);
            CHECK(asked.bound->value == known.bound->value);
            CHECK(asked.no_bound.empty());
        };
        plan::Condition gather, reduce;
        for (std::size_t rank = 0; rank < 4; ++rank) {
            for (std::size_t part = 0; part < 4; ++part) {
                const auto chunk = static_cast<std::int64_t>(part);
                gather.outputs[Rank(rank)][chunk] = {{Rank(part), 0}};
                reduce.outputs[Rank(rank)][chunk] = {
                    {Rank(0), chunk}, {Rank(1), chunk}, {Rank(2), chunk}, {Rank(3), chunk}};
            }
        }
        check(test::ring_all_gather(4), CollectiveKind::AllGather, gather);
        check(test::ring_all_reduce(4), CollectiveKind::AllReduce, reduce);
    }

    TEST_CASE("there is no bound, and a reason, without a condition or where its sums overlap") {
        const Topology topology = one_way_ring(4);
        const auto plan = test::ring_all_reduce(4);
        const auto verdict = test::believed_valid(CollectiveKind::Custom);
        const PlanCost open = cost_of({&plan, verdict, Bytes{4096}}, topology);
        CHECK_FALSE(open.bound);
        CHECK(facts(open, topology).at("bound") == "none: nobody says what the plan is for");
        plan::Condition overlapping;
        overlapping.outputs[Rank(2)][0] = {{Rank(0), 0}, {Rank(1), 0}};
        overlapping.outputs[Rank(3)][0] = {{Rank(0), 0}};
        const PlanCost shared =
            cost_of({&plan, verdict, Bytes{4096}, {}, std::make_shared<const plan::Condition>(overlapping)},
                    topology);
        CHECK_FALSE(shared.bound);
        CHECK(json_of(shared, topology)["no_bound"].get<std::string>().find("overlap") != std::string::npos);
    }

    TEST_CASE("plans of real tools are timed, above their bounds, with the FIFOs that the verifier names") {
        std::size_t timed = 0, bounded = 0;
        for (const auto& entry : std::filesystem::directory_iterator(data())) {
            INFO(entry.path().string());
            const plan::MscclPlan plan = read(entry.path().filename().string());
            const plan::PlanVerdict verdict = verify::verify(plan);
            if (!verdict.acceptable()) continue;
            const Topology hub(test::star(static_cast<std::uint32_t>(plan.ranks), {}, 3, 7).parts());
            const PlanCost cost = cost_of({&plan, verdict}, hub);
            ++timed;
            if (cost.bound) ++bounded;
            CHECK(ends_with(plan, hub, verdict.fifo->chunks));
            CHECK_FALSE(ends_with(plan, hub, verdict.fifo->chunks - 1));
        }
        CHECK(timed == 10);
        CHECK(bounded == 9);
    }

    TEST_CASE("SCCL's all-gather of two steps is optimal on the ring that it was made for") {
        const plan::MscclPlan plan = read("sccl_Allgather.n4-Ring.n4-steps2_i1.xml");
        const plan::PlanVerdict verdict = verify::verify(plan);
        const Topology ring(generators::ring(4, Wire{Ticks(5), Ticks(3), {}}));
        const PlanCost cost = cost_of({&plan, verdict}, ring);
        CHECK(cost.timing.makespan == Ticks(16));
        CHECK(cost.gap == 0.0);
    }
}

}  // namespace tutti::app
