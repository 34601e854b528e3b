// Exact synthesis as its users meet it: proven optima of others, each backend alone, all-reduce directly and
// composed, limits, and what is said where no solver is there.

#include "models/exact.hpp"
#include "models/backends/registry.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/oracle_data.hpp"
#include "verify/certificate.hpp"

#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;

namespace {

bool has_solvers() { return models::why_no_solver({}).empty(); }

synth::Result solved(const Instance& instance, const std::string& method, double seconds = 60) {
    synth::Request request;
    request.method = method;
    request.stop = Stop(Stop::Seconds(seconds));
    return synth::synthesize(instance, request);
}

Instance on_generated(const TopologyParts& topology, CollectiveKind kind) {
    InstanceParts parts;
    parts.name = "generated";
    parts.topology = topology;
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {test::collective(kind)};
    return Instance(parts);
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kEach = 8;  // the sanitizers take about that much longer
#else
constexpr std::size_t kEach = 1;
#endif

/// Those that took a prototype less than so many seconds.
std::vector<test::ProvenOptimum> quick_optima(double seconds) {
    std::vector<test::ProvenOptimum> quick;
    std::size_t seen = 0;
    for (test::ProvenOptimum& known : test::proven_optima()) {
        if (known.prototype_seconds < seconds && seen++ % kEach == 0) quick.push_back(std::move(known));
    }
    return quick;
}

}  // namespace

TEST_CASE("auto proves the optima that others have proven") {
    if (!has_solvers()) return;
    std::size_t judged = 0;
    for (const auto& known : quick_optima(1e9)) {
        CAPTURE(known.instance.name());
        const synth::Result result = solved(known.instance, "auto");
        CHECK(result.schedule.makespan == known.optimum);
        CHECK(result.status == Status::Optimal);
        CHECK_FALSE(result.proof.empty());
        CHECK_FALSE(verify::check_certificate(known.instance, result.bound).has_value());
        ++judged;
    }
    CHECK(judged * kEach >= 112);
}

TEST_CASE("each backend alone proves small optima") {
    for (const models::BackendEntry& entry : models::backends()) {
        if (!entry.open()) continue;
        std::size_t judged = 0;
        for (const auto& known : quick_optima(0.03)) {
            CAPTURE(entry.name);
            CAPTURE(known.instance.name());
            const synth::Result result = solved(known.instance, std::string(entry.name));
            CHECK(result.schedule.makespan == known.optimum);
            CHECK(result.status == Status::Optimal);
            ++judged;
        }
        CHECK(judged * kEach >= 30);
    }
}

TEST_CASE(
    "an all-reduce can beat the best reduce-scatter followed by the best all-gather, and we say by how "
    "much") {
    if (!models::find_backend("cpsat")->open()) return;
    const auto ring = [](std::uint32_t npus) {
        return on_generated(generators::ring(npus, {Ticks(0), Ticks(1), {}}), CollectiveKind::AllReduce);
    };
    const auto square = on_generated(
        generators::mesh(std::vector<std::uint64_t>{2, 2}, std::vector<Wire>{{Ticks(1), Ticks(1), {}}}),
        CollectiveKind::AllReduce);
    struct Case {
        Instance instance;
        std::int64_t direct, composed;
    };
    for (const auto& [instance, direct, composed] :
         {Case{ring(4), 3, 4}, Case{ring(6), 5, 6}, Case{square, 5, 8}}) {
        const synth::Result result = solved(instance, "auto");
        CHECK(result.schedule.makespan == Ticks(direct));
        CHECK(result.status == Status::Optimal);
        REQUIRE(result.composed.has_value());
        CHECK(*result.composed == Ticks(composed));
    }
}

TEST_CASE("the observer is called for every better schedule and bound of the whole instance") {
    if (!models::find_backend("cpsat")->open()) return;
    // Its best composition takes 4 ticks, each half 2, and the optimum 3.
    const auto instance =
        on_generated(generators::ring(4, {Ticks(0), Ticks(1), {}}), CollectiveKind::AllReduce);
    std::vector<std::pair<std::optional<Ticks>, std::optional<Ticks>>> told;
    synth::Request request;
    request.found = [&](std::optional<Ticks> makespan, std::optional<Ticks> bound) {
        told.emplace_back(makespan, bound);
    };
    (void)synth::synthesize(instance, request);
    REQUIRE(told.size() >= 3);
    CHECK_FALSE(told.front().first);
    CHECK(told.back() == std::pair(std::optional(Ticks(3)), std::optional(Ticks(3))));
    for (std::size_t i = 1; i < told.size(); ++i) {
        CHECK(told[i].first.value_or(Ticks(0)) >= Ticks(3));
        if (told[i - 1].first) CHECK(*told[i].first <= *told[i - 1].first);
        CHECK(*told[i].second >= *told[i - 1].second);
        CHECK(*told[i].second <= Ticks(3));
    }
}

TEST_CASE("more threads race several solvers and come to the same optimum") {
    if (!has_solvers()) return;
    InstanceParts parts;
    for (const auto& known : quick_optima(1)) {
        if (known.instance.name() != "cluster2x4-a0b1-broadcast-k6" &&
            known.instance.name() != "mesh2x3-a1b2-all_to_all-k1")
            continue;
        synth::Request request;
        request.method = "exact";
        request.threads = 3;
        CHECK(synth::synthesize(known.instance, request).schedule.makespan == known.optimum);
    }
}

TEST_CASE("a method whose solver was not built reports that and how to get it") {
    for (const models::BackendEntry& entry : models::backends()) {
        if (entry.built()) continue;
        try {
            (void)solved(test::on_all(test::line(3), {test::collective(CollectiveKind::AllGather)}),
                         std::string(entry.name));
            FAIL("a schedule without a solver");
        } catch (const LimitError& error) {
            CHECK(std::string(error.what()).find("scripts/setup") != std::string::npos);
        }
    }
    // Greedy and bounds need none.
    CHECK(solved(test::on_all(test::line(3), {test::collective(CollectiveKind::AllGather)}), "auto").status ==
          Status::Optimal);
}

TEST_CASE("a limit of memory ends the search with what was found") {
    if (!has_solvers()) return;
    InstanceParts parts;
    const Instance instance = on_generated(
        generators::mesh(std::vector<std::uint64_t>{4, 4}, std::vector<Wire>{{Ticks(1), Ticks(2), {}}}),
        CollectiveKind::AllReduce);
    synth::Request request;
    request.method = "exact";
    request.memory_bytes = 1;  // less than the process has already
    request.stop = Stop(Stop::Seconds(120));
    try {
        const synth::Result result = synth::synthesize(instance, request);
        CHECK(result.stopped);
        CHECK(result.status == Status::Feasible);
    } catch (const LimitError&) {
        // the watch was quicker than greedy
    }
}
