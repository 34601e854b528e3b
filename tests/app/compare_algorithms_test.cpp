#include "app/compare_algorithms.hpp"

#include "core/error.hpp"
#include "lang/library.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace tutti::app {
namespace {

AlgorithmsOptions on(const std::string& topology, std::vector<std::int64_t> sizes,
                     CollectiveKind kind = CollectiveKind::AllReduce) {
    AlgorithmsOptions options;
    options.kind = kind;
    options.topology = topology;
    options.sizes = std::move(sizes);
    return options;
}

const std::string kRing6 = R"({"kind": "ring", "npus": 6, "latency_ns": 500, "bandwidth_GBps": 50})";

Ticks time_of(const ComparedAlgorithms& compared, std::size_t plan, std::size_t size) {
    return compared.plans.compared[plan].sizes[size].cost->timing.makespan;
}

}  // namespace

TEST_CASE("algorithms are compared with the parameters that are the best at each size") {
    const ComparedAlgorithms compared = compare_algorithms(on(kRing6, {1 << 10, 1 << 30}));
    // On a ring with much data: around it both ways, and the bound is met.
    const std::size_t fastest = compared.fastest_at(1);
    CHECK(compared.plans.compared[fastest].file.starts_with("ring "));
    CHECK(compared.parameters[fastest].at("directions") == 2);
    CHECK(*compared.plans.compared[fastest].sizes[1].cost->gap < 0.01);
    for (const auto& choice : compared.choices) {
        for (std::size_t s = 0; s < 2; ++s) {
            // What is the best at one size is no better at another one than what was chosen there.
            for (const std::size_t plan : choice.best)
                CHECK(time_of(compared, choice.best[s], s) <= time_of(compared, plan, s));
            CHECK(time_of(compared, compared.fastest_at(s), s) <= time_of(compared, choice.best[s], s));
        }
        const auto ring = std::ranges::find(compared.choices, "ring", &ComparedAlgorithms::Choice::algorithm);
        CHECK(ring->tried > 2);
    }
}

TEST_CASE("all algorithms are held against one bound at a size, which none is below") {
    const ComparedAlgorithms compared = compare_algorithms(on(kRing6, {1 << 20}, CollectiveKind::AllGather));
    std::set<Ticks> bounds;
    for (const JudgedPlan& judged : compared.plans.compared) {
        bounds.insert(judged.sizes[0].cost->bound->value);
        CHECK(*judged.sizes[0].cost->gap >= 0);
    }
    CHECK(bounds.size() == 1);
}

TEST_CASE("the bound that algorithms are held against is the least of those that their plans have alone") {
    AlgorithmsOptions options = on(kRing6, {1 << 14, 1 << 20}, CollectiveKind::AllGather);
    options.name = "ring";
    const ComparedAlgorithms compared = compare_algorithms(options);
    REQUIRE(compared.plans.compared.size() > 1);
    std::vector<Ticks> least(2, Ticks::max());
    for (const JudgedPlan& judged : compared.plans.compared) {
        JudgedPlan alone = judged;
        alone.sizes.clear();
        time_at_sizes(alone, compared.network, {}, {});
        for (std::size_t s = 0; s < 2; ++s) least[s] = std::min(least[s], alone.sizes[s].cost->bound->value);
    }
    for (const JudgedPlan& judged : compared.plans.compared) {
        for (std::size_t s = 0; s < 2; ++s) CHECK(judged.sizes[s].cost->bound->value == least[s]);
    }
}

TEST_CASE("algorithms that cannot be used are named with the reason") {
    const ComparedAlgorithms compared = compare_algorithms(on(kRing6, {1 << 10}, CollectiveKind::AllGather));
    const auto bine = std::ranges::find(compared.left_out, "bine", &ComparedAlgorithms::LeftOut::algorithm);
    REQUIRE(bine != compared.left_out.end());
    CHECK(bine->reason == "it is for powers of two, not for 6 ranks");
    const io::Json json = json_of(compared);
    CHECK(json["left_out"][0]["algorithm"] == compared.left_out[0].algorithm);
    CHECK(json["best"][0]["name"] == compared.plans.compared[compared.fastest_at(0)].file);
    CHECK(json["algorithms"].size() == compared.plans.compared.size());
}

TEST_CASE("sizes and a network that tells them apart are needed to compare algorithms") {
    CHECK_THROWS_AS((void)compare_algorithms(on(kRing6, {})), InputError);
    CHECK_THROWS_AS(
        (void)compare_algorithms(on(R"({"kind": "ring", "npus": 4, "alpha": 1, "beta": 1})", {1024})),
        InputError);
    AlgorithmsOptions options = on(kRing6, {1024}, CollectiveKind::AllToAll);
    options.name = "ring";
    CHECK_THROWS_AS((void)compare_algorithms(options), InputError);
}

}  // namespace tutti::app
