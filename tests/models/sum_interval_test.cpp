// Sums where times are long: no Boolean for each tick.

#include "models/encode/sum_interval.hpp"
#include "core/search_options.hpp"
#include "models/backends/registry.hpp"
#include "models/encode/interval.hpp"
#include "models/exact.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/solvers.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

namespace tutti::test {
namespace {

using namespace models;

/// Three sites, two near each other and one far from both. An all-reduce has three chunks. Along trees each
/// crosses from 2 to 0 and on to 1: 90 + 3 * 26 until the third is at 0, 224 until it is at 1. If one of them
/// is exchanged by everybody with everybody, it takes 213 from 2 to 1, and the others are through by 198.
/// Nothing is shorter: the third chunk to leave 2 for 0 is at 1 after 213 at the least, either way.
Net sites() {
    Net net(3);
    return net.both(0, 1, 50, 6).both(1, 2, 200, 13).both(2, 0, 90, 26);
}
constexpr std::int64_t kOptimum = 213;

Instance instance_of_sites() { return on_all(sites(), {collective(CollectiveKind::AllReduce)}); }

/// Each chunk up and down the path 1 - 0 - 2.
Schedule along_trees() {
    std::vector<Send> sends;
    for (std::int64_t chunk = 0; chunk < 3; ++chunk) {
        const auto c = static_cast<std::size_t>(chunk);
        sends.push_back(reduce(c, 1, 6 * chunk));            // 1 -> 0
        sends.push_back(reduce(c, 4, 26 * chunk));           // 2 -> 0
        sends.push_back(copy(c, 0, 90 + 26 * (chunk + 1)));  // 0 -> 1
        sends.push_back(copy(c, 5, 90 + 26 * (chunk + 1)));  // 0 -> 2
    }
    return schedule(90 + 26 * 4 + 90, std::move(sends));
}

std::string answer_at(const Instance& instance, std::int64_t ticks, const Backend& backend) {
    const Routing routing(instance);
    const Units64 horizon = routing.units(Ticks(ticks));
    const Question question = interval(routing, {horizon});
    CHECK_FALSE(question.refutes);
    return answer_to(routing, question, horizon, backend, false);
}

TEST_CASE("J1 to J6: a chunk that is exchanged directly goes beside chunks that are summed up on the way") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    CHECK(answer_at(instance_of_sites(), kOptimum, *solver.backend) == "found");
    CHECK(answer_at(instance_of_sites(), kOptimum - 1, *solver.backend) == "none");
}

TEST_CASE("J2: a holder that is released late sends nothing before") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    Collective sum = custom({0, 2}, {0, 2}, true);
    sum.release = Ticks(1000);
    const Instance late = on_all(line(3, 40, 9), {sum});
    CHECK(answer_at(late, 1000 + 2 * 49, *solver.backend) == "found");
    CHECK(answer_at(late, 1000 + 2 * 49 - 1, *solver.backend) == "none");
}

TEST_CASE("where times are too long for Booleans, sums are put on other hops one or two at a time") {
    if (!find_backend("cpsat")->open()) return;
    const Instance instance = instance_of_sites();
    const Schedule trees = along_trees();
    REQUIRE(verify::verify(instance, trees).valid());
    const auto judge = [&](const Schedule& schedule, const std::string&) {
        REQUIRE(verify::verify(instance, schedule).valid());
    };
    HorizonRequest request{.instance = instance,
                           .bound = {"trivial", Ticks(kOptimum), {}, 0},
                           .incumbent = trees,
                           .backends = {"cpsat"},
                           .stop = Stop(Stop::Seconds(60)),
                           .story = {},
                           .judge = judge};
    request.options.model_units = 100;
    const HorizonResult result = search_horizons(request);
    CHECK(result.schedule.makespan == Ticks(kOptimum));
    CHECK(result.found_by == "cpsat intervals");
    CHECK(result.bound.kind == "trivial");
}

}  // namespace
}  // namespace tutti::test
