// What `auto` does beside the solvers: where there is none, where switches can do more than forward, and
// where the textbook algorithms had not enough time at first.

#include "heuristics/heuristic.hpp"
#include "models/exact.hpp"
#include "synth/synthesize.hpp"
#include "tests/io/scratch.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>

using namespace tutti;

namespace {

bool has_solvers() { return models::why_no_solver({}).empty(); }

/// While it lives, no solver can be loaded: files that are no modules are found before the modules.
class NoSolvers {
  public:
    NoSolvers() {
        for (const char* const name : {"tutti_cpsat.so", "tutti_highs.so", "tutti_z3.so"})
            (void)scratch_.file(name, "no module\n");
        if (const char* const before = std::getenv(kName)) before_ = before;
        REQUIRE(::setenv(kName, scratch_.path("").c_str(), 1) == 0);
    }
    ~NoSolvers() { (void)(before_ ? ::setenv(kName, before_->c_str(), 1) : ::unsetenv(kName)); }
    NoSolvers(const NoSolvers&) = delete;
    NoSolvers& operator=(const NoSolvers&) = delete;

  private:
    static constexpr const char* kName = "TUTTI_MODULE_PATH";
    test::Scratch scratch_;
    std::optional<std::string> before_;
};

/// An all-reduce round a ring of 5 with latency: the bounds that need no solver are below the optimum.
Instance needs_a_solver() {
    test::Net ring(5);
    for (std::size_t n = 0; n < 5; ++n) ring.both(n, (n + 1) % 5, 1, 2);
    return test::on_all(ring, {test::collective(CollectiveKind::AllReduce)});
}

/// Two switches that copy, with two NPUs each: 9 ticks, and the bounds that need no solver say 7.
Instance on_two_copying_leaves() {
    test::Net net(4);
    const std::size_t left = net.add_switch({.copy = true});
    const std::size_t right = net.add_switch({.copy = true});
    for (std::size_t n = 0; n < 4; ++n) net.both(n, n < 2 ? left : right);
    net.both(left, right);
    return test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
}

}  // namespace

TEST_CASE("auto without a solver says so, and the heuristics go on until the limit") {
    const NoSolvers nobody;
    REQUIRE_FALSE(has_solvers());
    synth::Request request;
    request.stop = Stop(Stop::Seconds(0.3));
    const synth::Result result = synth::synthesize(needs_a_solver(), request);
    CHECK(result.status == Status::Feasible);
    CHECK(result.proof.find("no solver for exact synthesis") != std::string::npos);
    CHECK(result.solver_versions.empty());
    CHECK(result.stopped);
}

TEST_CASE("textbook algorithms that had no time get a second turn") {
    // Neither latency nor load counts alone, so that no bound is met and no algorithm is left out.
    test::Net net = test::star(8, {.cut_through = true}, 50, 10);
    const Instance instance = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
    std::atomic<bool> enough = false;
    std::size_t turns = 0;
    synth::Request request;
    request.method = "greedy";
    request.options.textbook_share = 1e-9;
    request.stop = Stop(Stop::Seconds(20), &enough);
    request.story = [&](const std::string& line) {
        if (line.starts_with("textbook")) enough = ++turns == 3;
    };
    CHECK(synth::synthesize(instance, request).schedule.makespan > Ticks(0));
    CHECK(turns == 3);
}

TEST_CASE(
    "the textbook algorithm that promises most finishes its first try, however small its share of the time "
    "is") {
    // Latency counts more than load, so that few rounds are best: nobody knows them but the textbook.
    test::Net net = test::star(8, {.cut_through = true}, 50, 1);
    const Instance instance = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
    std::atomic<bool> enough = false;
    synth::Request request;
    request.method = "greedy";
    request.options.textbook_share = 1e-9;
    request.stop = Stop(Stop::Seconds(20), &enough);
    request.story = [&](const std::string& line) { enough = enough || line.starts_with("textbook"); };
    const synth::Result result = synth::synthesize(instance, request);
    const auto* best = heuristics::find_heuristic(result.heuristic);
    REQUIRE(best != nullptr);
    CHECK(best->as<heuristics::ExchangeHeuristic>() != nullptr);
}

TEST_CASE("textbook algorithms are tried in the order of what they promise") {
    // The fewest rounds are best for small chunks, the fewest messages for large ones.
    for (const auto& [beta, name] : {std::pair(1, "all-pairs"), std::pair(1'000, "direct-exchange")}) {
        CAPTURE(beta);
        const test::Net net = test::star(8, {.cut_through = true}, 500, beta);
        const Instance instance = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
        const heuristics::Exchanges exchanges(instance, {});
        Ticks least = Ticks::max();
        std::string_view first;
        for (const auto& heuristic : heuristics::heuristics()) {
            const auto* exchange = heuristic.as<heuristics::ExchangeHeuristic>();
            if (exchange == nullptr || exchange->estimate == nullptr) continue;
            const Ticks estimate = exchange->estimate(exchanges);
            const auto made = exchange->run(exchanges, Ticks(0), {});
            if (!made) continue;  // there are no levels; large chunks do not meet
            // On a crossbar there is little that an estimate does not know.
            CHECK(estimate.count() <= made->makespan.count() * 2);
            CHECK(made->makespan.count() <= estimate.count() * 2);
            if (estimate >= least) continue;
            least = estimate;
            first = heuristic.name;
        }
        CHECK(first == name);
    }
}

TEST_CASE("a schedule from elsewhere that is wrong or no shorter is not taken") {
    const Instance instance = needs_a_solver();
    synth::Request request;
    request.method = "greedy";
    const synth::Result alone = synth::synthesize(instance, request);
    // The same schedule, but it is said to take less: that is wrong. Without its last send, it is wrong too.
    bool asked = false;
    request.proposals = [&](const Instance& asked_of, Ticks below, const Stop&,
                            const synth::ProposalTaker& take) {
        asked = true;
        CHECK(&asked_of == &instance);
        CHECK(below == alone.schedule.makespan);
        Schedule wrong = alone.schedule;
        wrong.makespan = below - Ticks(1);
        CHECK_FALSE(take("wrong", wrong));
        CHECK_FALSE(take("no better", alone.schedule));
        wrong.sends.pop_back();
        CHECK_FALSE(take("incomplete", wrong));
    };
    CHECK(synth::synthesize(instance, request).schedule.makespan == alone.schedule.makespan);
    CHECK(asked);
}

TEST_CASE("auto also solves an instance as if its switches only forwarded") {
    if (!has_solvers()) return;
    const Instance instance = on_two_copying_leaves();
    std::atomic<bool> enough = false;
    synth::Request request;
    request.stop = Stop(Stop::Seconds(60), &enough);
    std::string first;
    request.story = [&](const std::string& line) {
        if (first.empty() && line.starts_with("horizon")) first = line;
        enough = !first.empty();
    };
    const synth::Result result = synth::synthesize(instance, request);
    CHECK(first.ends_with("(plain switches)"));  // before its own model is asked
    CHECK(verify::verify(instance, result.schedule).valid());
}
