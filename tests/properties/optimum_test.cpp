// The optimum, found twice: by exhaustive search (tests/oracle/brute_force, which knows the rules and nothing
// else) and by every backend with every encoding, which rest on arguments about what an optimal schedule may
// look like. At the optimum each must find a schedule, one unit below it each must say that there is none.

#include "heuristics/greedy.hpp"
#include "models/backends/registry.hpp"
#include "models/encode/interval.hpp"
#include "models/encode/time_indexed.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/tiny_instance.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>

namespace tutti::test {
namespace {

using namespace models;

constexpr std::uint64_t kWork = 60'000;

struct Solver {
    std::string name;
    std::unique_ptr<Backend> backend;
};

std::vector<Solver> solvers() {
    std::vector<Solver> all;
    for (const BackendEntry& entry : backends()) {
        if (auto opened = entry.open()) all.push_back({std::string(entry.name), std::move(opened.backend)});
    }
    return all;
}

/// What is wrong with the answer to "a schedule of makespan <= horizon?", given the truth; empty if nothing.
std::string fault(const Routing& routing, const Backend& backend, const Question& question, Units64 horizon,
                  bool there_is) {
    SolveLimits limits;
    limits.stop = Stop(Stop::Seconds(20));
    const models::Answer answer = backend.solve(question.program, limits);
    if (answer.ended == Ended::Stopped) return {};
    if (!answer.has_solution() && answer.ended != Ended::Infeasible) return "no answer: " + answer.words;
    if (answer.has_solution()) {
        const Schedule schedule = schedule_of(routing, horizon, question.read(answer.values));
        const Verdict verdict = verify::verify(routing.instance(), schedule);
        if (!verdict.valid()) return "an invalid schedule: " + verdict.violations.front().message;
        if (schedule.makespan > routing.ticks(horizon)) return "a schedule that is too long";
        if (!there_is) return "a schedule below the optimum";
    } else if (there_is && question.refutes) {
        return "none, though there is one";
    }
    return {};
}

}  // namespace

TEST_CASE("every backend with every encoding agrees with the brute force about tiny instances") {
    const std::vector<Solver> all = solvers();
    std::map<std::string, std::uint64_t> asked;
    for_seeds(cases(150), [&](Rng& rng, std::uint64_t) {
        const Instance instance = tiny_instance(rng);
        const auto truth = oracle::brute_force_optimum(instance, Ticks(1000), kWork);
        if (truth.answer != oracle::BruteForceAnswer::Found) return;
        const Routing routing(instance);
        REQUIRE(truth.optimum->count() % routing.unit() == 0);
        const Units64 optimum = routing.units(*truth.optimum);
        INFO(json_of(instance));
        CAPTURE(optimum);
        for (const Solver& solver : all) {
            for (const Units64 horizon : {optimum, optimum - 1}) {
                if (horizon < 0) continue;
                CAPTURE(solver.name);
                CAPTURE(horizon);
                const bool there_is = horizon >= optimum;
                ++asked["time-indexed"];
                CHECK(fault(routing, *solver.backend, time_indexed(routing, no_quotient(routing), {horizon}),
                            horizon, there_is) == "");
                if (const auto quotient = quotient_of(routing, {})) {
                    ++asked["symmetric"];
                    CHECK(fault(routing, *solver.backend, time_indexed(routing, *quotient, {horizon}),
                                horizon, there_is) == "");
                }
                if (why_no_interval(routing).empty()) {
                    ++asked["intervals"];
                    CHECK(fault(routing, *solver.backend, interval(routing, {horizon}), horizon, there_is) ==
                          "");
                }
            }
        }
    });
    for (const std::string encoding : {"time-indexed", "intervals"}) {  // few so small are symmetric
        CAPTURE(encoding);
        CHECK((all.empty() || asked[encoding] > 0));
    }
}

TEST_CASE("every encoding makes valid schedules through circles of zero-latency crossbars") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    const InstanceOptions options{.max_npus = 4,
                                  .max_switches = 3,
                                  .max_collectives = 1,
                                  .max_ticks = 2,
                                  .physical = false,
                                  .crossbars_only = true};
    std::uint64_t crossed = 0;
    for_seeds(cases(25), [&](Rng& rng, std::uint64_t) {
        const Instance instance(random_instance(rng, options));
        if (!is_feasible(instance)) return;
        const auto first = heuristics::greedy(instance, {});
        if (!first || first->sends.empty()) return;
        const Routing routing(instance);
        if (routing.commodities().empty() || routing.networks().front().passages.empty()) return;
        ++crossed;
        INFO(json_of(instance));
        // As long as it takes at the most, so that there is much to choose from, and less.
        const Units64 most = routing.units(first->makespan);
        for (const Units64 horizon : {most, (2 * most + 2) / 3}) {
            CAPTURE(horizon);
            const auto check = [&](const Question& question) {
                const std::string wrong = fault(routing, *solver.backend, question, horizon, true);
                CHECK((wrong.empty() || (horizon < most && wrong.starts_with("none"))));
            };
            check(time_indexed(routing, no_quotient(routing), {horizon}));
            if (why_no_interval(routing).empty()) check(interval(routing, {horizon}));
        }
    });
    CHECK(crossed > 0);
}

}  // namespace tutti::test
