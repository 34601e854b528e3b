#include "app/judge_plans.hpp"

#include "app/cost.hpp"
#include "source_dir.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace tutti::app {
namespace {

std::string data(const std::string& name) { return std::string(TUTTI_SOURCE_DIR) + "/tests/data/" + name; }

const std::string kAllPairs = data("msccl-xml/msccl-tools-history/experiments_ar__ap_1@29c6135.xml");
const std::string kRing = data(
    "msccl-xml/astra-sim/"
    "examples__system__custom_collectives__custom_ring_allreduce_8npus_1MB__custom_allreduce.xml");
const std::string kNaive = data("mscclpp-json/dsl-tests/allreduce_naivy_8.json");
const std::string kGather = data("msccl-xml/msccl-tools-generated/allgather_ring__8_2_2_Simple.xml");
const std::string kWrong = data("msccl-xml/msccl-tools-generated/allreduce_a100_ncv4__8_1.xml");

JudgeOptions on_ring(std::vector<std::string> files, std::vector<std::int64_t> sizes) {
    JudgeOptions options;
    options.files = std::move(files);
    options.threads = 1;
    options.plan.topology = R"({"kind": "ring", "npus": 8, "latency_ns": 700, "bandwidth_GBps": 25})";
    options.plan.sizes = std::move(sizes);
    return options;
}

JudgedPlans compared(const JudgeOptions& options) {
    const auto network = network_of(options.plan);
    return judge_plans(options.files, options, network, {}, {});
}

/// Asked by itself, at one size.
Ticks time_of(const std::string& file, std::int64_t bytes) {
    JudgeOptions options = on_ring({file}, {});
    options.plan.bytes = bytes;
    return cost(options).makespan;
}

}  // namespace

TEST_SUITE("app: plans compared at several sizes") {
    TEST_CASE("what a plan takes at each size is what it takes when asked for that size alone") {
        const JudgedPlans plans = compared(on_ring({kAllPairs, kRing}, {1000, 1 << 20}));
        REQUIRE(plans.complete);
        REQUIRE(plans.compared.size() == 2);
        for (const JudgedPlan& judged : plans.compared) {
            REQUIRE(judged.sizes.size() == 2);
            for (const SizedCost& at : judged.sizes) {
                REQUIRE(at.cost);
                CHECK(at.cost->timing.makespan == time_of(judged.file, at.bytes.count));
                CHECK(at.cost->bound);
            }
        }
    }

    TEST_CASE("up to a crossover one plan is among the fastest, and from the next byte on the other alone") {
        const JudgedPlans plans = compared(on_ring({kRing, kAllPairs}, {1024, 1 << 30}));
        REQUIRE(plans.comparisons.size() == 1);
        const PlanComparison& comparison = plans.comparisons.front();
        CHECK(comparison.fastest == std::vector<std::vector<std::size_t>>{{1}, {0}});
        REQUIRE(comparison.crossovers.size() == 1);
        const Crossover& crossover = comparison.crossovers.front();
        CHECK(crossover.exact());
        CHECK(crossover.before == 1);
        CHECK(crossover.after == 0);
        CHECK(time_of(kAllPairs, crossover.below) <= time_of(kRing, crossover.below));
        CHECK(time_of(kRing, crossover.from) < time_of(kAllPairs, crossover.from));
    }

    TEST_CASE("plans of different formats are compared, equally fast ones are all marked") {
        const JudgedPlans plans = compared(on_ring({kNaive, kAllPairs}, {1024, 4096}));
        REQUIRE(plans.comparisons.size() == 1);
        CHECK(plans.comparisons.front().fastest == std::vector<std::vector<std::size_t>>{{0, 1}, {0, 1}});
        CHECK(plans.comparisons.front().crossovers.empty());
    }

    TEST_CASE("plans for other collectives, and wrong ones, are not compared with the rest") {
        const JudgedPlans plans = compared(on_ring({kRing, kGather, kWrong, kAllPairs}, {1024, 1 << 30}));
        REQUIRE(plans.comparisons.size() == 2);
        CHECK(plans.comparisons[0].plans == std::vector<std::size_t>{0, 3});
        CHECK(plans.comparisons[0].crossovers.size() == 1);
        CHECK(plans.comparisons[1].plans == std::vector<std::size_t>{1});
        CHECK(plans.comparisons[1].fastest.empty());
        CHECK(plans.compared[2].sizes.empty());
        CHECK_FALSE(plans.compared[2].verdict.acceptable());
    }

    TEST_CASE("sizes are refused where they mean nothing, or plans run together") {
        JudgeOptions options = on_ring({kRing, kAllPairs}, {1024, 2048});
        options.plan.groups = {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}};
        CHECK_THROWS_WITH_AS((void)network_of(options.plan), doctest::Contains("one size"), InputError);
        options.plan.groups.clear();
        options.plan.topology = R"({"kind": "ring", "npus": 8, "alpha": 1, "beta": 1})";
        CHECK_THROWS_WITH_AS((void)network_of(options.plan), doctest::Contains("abstract"), InputError);
    }
}

}  // namespace tutti::app
