#include "tune/tune.hpp"

#include "io/topology_json.hpp"
#include "rewrite/schedule.hpp"
#include "tests/tune/cases.hpp"
#include "tune/predict.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

using namespace tutti;

namespace {

tune::TuneResult tuned(const test::TuneCase& one, const Topology& topology) {
    tune::CallSchedules calls(topology, one.program.mesh(), {}, {}, 0.1);
    tune::TuneRequest request;
    request.pieces = {one.pieces};
    request.seconds_refine = 0.1;
    return tune::tune(one.program, one.device, calls, request);
}

}  // namespace

TEST_CASE("the best schedule takes at most what the reference cases say") {
    for (const test::TuneCase& one : test::tune_cases()) {
        CAPTURE(one.name);
        const tune::TuneResult result = tuned(one, one.topology);
        REQUIRE(!result.schedules.empty());
        const tune::Tuned& best = result.schedules.front();
        CHECK(best.prediction.us <= 1.15 * one.best_us);
        CHECK(best.prediction.us < result.unscheduled.us);
        CHECK(std::ranges::is_sorted(result.schedules, {},
                                     [](const tune::Tuned& t) { return t.prediction.us; }));
        // Its steps lead to its program; each of its collectives has a verified schedule.
        tune::CallSchedules calls(one.topology, one.program.mesh(), {}, {}, 0.1);
        const tune::Prediction again =
            tune::predict(rewrite::replay(one.program, best.steps), one.device, calls);
        CHECK(again.kernels == best.prediction.kernels);
        CHECK(again.state_bytes == best.prediction.state_bytes);
        REQUIRE(!best.prediction.calls.empty());
        for (const tune::Call& call : best.prediction.calls) {
            const tune::CallSchedule& made = calls.of(call);
            CHECK(verify::verify(*made.instance, made.schedule).valid());
            CHECK(made.bound.value <= made.makespan);
        }
    }
}

TEST_CASE("a link that is gone changes what the tuner answers") {
    for (test::TuneCase& one : test::tune_cases()) {
        if (one.name != "matmul-dgx1") continue;
        io::Json broken = one.json["topology"];
        broken["remove"] = io::Json::parse("[[0, 1], [1, 0]]");
        const Topology without(io::read_topology(io::JsonView(broken)));
        const tune::TuneResult whole = tuned(one, one.topology), rest = tuned(one, without);
        CHECK(rest.schedules.front().prediction.us > 1.02 * whole.schedules.front().prediction.us);
        CHECK(rest.unscheduled.us > whole.unscheduled.us);
    }
}

TEST_CASE("schedules whose state takes too much memory are left out") {
    for (const test::TuneCase& one : test::tune_cases()) {
        if (one.name != "adam-dgx1-dead-link") continue;
        tune::CallSchedules calls(one.topology, one.program.mesh(), {}, {}, 0.1);
        tune::TuneRequest request;
        request.pieces = {one.pieces};
        request.seconds_refine = 0.1;
        // w whole, m and v sliced over 8 ranks: 4 bytes x 340 M x (1 + 2 / 8).
        request.most_state_bytes = 4 * 340e6 * 1.25 + 1;
        const tune::TuneResult result = tune::tune(one.program, one.device, calls, request);
        REQUIRE(!result.schedules.empty());
        for (const tune::Tuned& schedule : result.schedules)
            CHECK(schedule.prediction.state_bytes == 1'700'000'000);
        request.most_state_bytes = 1e9;
        CHECK(tune::tune(one.program, one.device, calls, request).schedules.empty());
    }
}

TEST_CASE("a stop ends the search, with the program as written at least") {
    const test::TuneCase one = test::tune_cases().front();
    std::atomic<bool> stop = false;
    tune::CallSchedules calls(one.topology, one.program.mesh(), Stop({}, &stop), {}, 0.1);
    tune::TuneRequest request;
    request.stop = Stop({}, &stop);
    request.say = [&](const std::string& line) { stop = stop || line.starts_with("better"); };
    const tune::TuneResult result = tune::tune(one.program, one.device, calls, request);
    CHECK(result.stopped);
    CHECK(result.schedules.size() == 1);
    tune::CallSchedules none(one.topology, one.program.mesh(), Stop({}, &stop), {}, 0.1);
    CHECK_THROWS_AS((void)tune::tune(one.program, one.device, none, request), LimitError);
}

TEST_CASE("what is likely to be good is predicted first, and nothing needs a call's schedule to be guessed") {
    for (const test::TuneCase& one : test::tune_cases()) {
        CAPTURE(one.name);
        tune::CallSchedules calls(one.topology, one.program.mesh(), {}, {}, 0.02);
        (void)tune::predict(one.program, one.device, calls, {.guess = true});
        CHECK(calls.syntheses() == 0);
        tune::TuneRequest request;
        request.pieces = {4, 8, 16};
        request.seconds_refine = 0.02;
        struct Found {
            double us;
            std::size_t syntheses;
        };
        std::vector<Found> better;
        request.say = [&](const std::string& line) {
            if (line.starts_with("better")) better.push_back({std::stod(line.substr(7)), calls.syntheses()});
        };
        const tune::TuneResult result = tune::tune(one.program, one.device, calls, request);
        REQUIRE(!better.empty());
        CHECK(result.tried > 10);
        CHECK_FALSE(result.stopped);
        // What is within a tenth of the best comes before half of all syntheses.
        const auto good = std::ranges::find_if(
            better, [&](const Found& found) { return found.us <= 1.1 * better.back().us; });
        CHECK(2 * good->syntheses <= calls.syntheses());
    }
}
