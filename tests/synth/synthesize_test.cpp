#include "synth/synthesize.hpp"

#include "core/generators/ring.hpp"

#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <atomic>

using namespace tutti;

namespace {

/// Six chunks round a ring of six: greedy needs two ticks more than the best.
Instance hard_for_greedy() {
    InstanceParts parts;
    parts.name = "ring6";
    parts.topology = generators::ring(6, {Ticks(1), Ticks(2), {}});
    parts.groups = {{"all", test::nodes({0, 1, 2, 3, 4, 5})}};
    parts.collectives = {test::collective(CollectiveKind::Broadcast)};
    parts.collectives[0].chunks = 6;
    return Instance(parts);
}

synth::Request greedily() {
    synth::Request request;
    request.method = "greedy";
    return request;
}

}  // namespace

TEST_CASE("a receiver that cannot be reached is named") {
    test::Net net(4);
    net.both(0, 1).both(2, 3);
    const Instance instance = test::on_all(net, {test::collective(CollectiveKind::AllGather, "ag")});
    try {
        (void)synth::synthesize(instance, {});
        FAIL("expected an InfeasibleError");
    } catch (const InfeasibleError& error) {
        const std::string text = error.what();
        CHECK(text.find("'ag'") != std::string::npos);
        CHECK(text.find("from NPU 0 to NPU 2, 3") != std::string::npos);
    }
}

TEST_CASE("a one-way link serves a broadcast down it, not up it") {
    test::Net net(2);
    net.link(0, 1);
    CHECK(synth::synthesize(test::on_all(net, {test::custom({0}, {1})}), {}).schedule.makespan == Ticks(1));
    CHECK_THROWS_AS((void)synth::synthesize(test::on_all(net, {test::custom({1}, {0})}), {}),
                    InfeasibleError);
}

TEST_CASE("of a reduction, every contributor must reach the receiver") {
    test::Net net(3);
    net.link(0, 2).link(2, 1);
    CHECK_THROWS_AS((void)synth::synthesize(test::on_all(net, {test::custom({0, 1}, {2}, true)}), {}),
                    InfeasibleError);
    CHECK_NOTHROW((void)synth::synthesize(test::on_all(net, {test::custom({0, 1}, {2}, false)}), {}));
}

TEST_CASE("a request that is stopped at once has no schedule") {
    const std::atomic<bool> stop = true;
    synth::Request request;
    request.stop = Stop(std::nullopt, &stop);
    const Instance instance = test::on_all(test::line(4), {test::collective(CollectiveKind::AllGather)});
    CHECK_THROWS_AS((void)synth::synthesize(instance, request), LimitError);
}

TEST_CASE("the status is optimal only when the makespan meets the bound") {
    const auto met =
        synth::synthesize(test::on_all(test::line(4), {test::collective(CollectiveKind::AllGather)}), {});
    CHECK(met.status == Status::Optimal);
    CHECK(met.schedule.makespan == met.bound.value);
    const auto above = synth::synthesize(hard_for_greedy(), greedily());
    CHECK(above.status == Status::Feasible);
    CHECK(above.schedule.makespan > above.bound.value);
}

TEST_CASE("an unknown method is refused") {
    synth::Request request;
    request.method = "magic";
    CHECK_THROWS_AS((void)synth::synthesize(test::on_all(test::line(2), {test::custom({0}, {1})}), request),
                    InputError);
}

TEST_CASE("a result says whether its search was stopped, unless it is optimal anyway") {
    const auto stopped_after_greedy = [](const Instance& instance) {
        std::atomic<bool> flag = false;
        synth::Request request;
        request.stop = Stop(std::nullopt, &flag);
        request.story = [&](const std::string& line) { flag = flag || line.starts_with("greedy"); };
        return synth::synthesize(instance, request).stopped;
    };
    const Instance above = hard_for_greedy();
    const Instance optimal = test::on_all(test::line(4), {test::collective(CollectiveKind::AllGather)});
    CHECK(stopped_after_greedy(above));
    CHECK_FALSE(stopped_after_greedy(optimal));
    CHECK_FALSE(synth::synthesize(above, greedily()).stopped);
}

TEST_CASE("one heuristic alone runs no solver, and its schedule has a bound as always") {
    synth::Request request;
    request.heuristic = "tree-insertion";
    const auto result = synth::synthesize(hard_for_greedy(), request);
    CHECK(result.heuristic == "tree-insertion");
    CHECK(result.method == "greedy");
    CHECK(result.solver_versions.empty());
    CHECK(result.bound.value > Ticks(0));
    REQUIRE(result.candidates.size() == 1);
    CHECK(result.candidates[0].makespan == result.schedule.makespan);
    request.heuristic = "symmetry";
    const Instance ring = [] {
        InstanceParts parts;
        parts.topology = generators::ring(6, {Ticks(1), Ticks(2), {}});
        parts.groups = {{"all", test::nodes({0, 1, 2, 3, 4, 5})}};
        parts.collectives = {test::collective(CollectiveKind::AllGather)};
        return Instance(parts);
    }();
    CHECK(synth::synthesize(ring, request).heuristic == "symmetry");
}

TEST_CASE(
    "a heuristic that is unknown, needs a solver's method, or does not apply is refused with the reason") {
    const Instance instance = hard_for_greedy();
    const auto refusal = [&](const std::string& heuristic, const std::string& method) -> std::string {
        synth::Request request;
        request.heuristic = heuristic;
        request.method = method;
        try {
            (void)synth::synthesize(instance, request);
        } catch (const InputError& error) {
            return error.what();
        }
        return {};
    };
    CHECK(refusal("magic", "auto").find("unknown heuristic 'magic'") != std::string::npos);
    CHECK(refusal("tree-insertion", "exact").find("alone") != std::string::npos);
    CHECK(refusal("port-matching", "greedy").find("does not apply: the network has no switches") !=
          std::string::npos);
    CHECK(refusal("tree-insertion", "greedy").empty());
}

TEST_CASE("the result and the progress lines list what each heuristic achieved") {
    std::string tried;
    synth::Request request = greedily();
    request.story = [&](const std::string& line) {
        if (line.starts_with("tried")) tried = line;
    };
    const auto result = synth::synthesize(hard_for_greedy(), request);
    CHECK(result.candidates.size() > 1);
    for (const Candidate& candidate : result.candidates) {
        INFO(candidate.heuristic);
        if (candidate.makespan) CHECK(tried.find(candidate.heuristic) != std::string::npos);
    }
    CHECK_FALSE(result.heuristic.empty());
}
