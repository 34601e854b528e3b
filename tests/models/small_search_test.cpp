// Schedules found in small times, and the forms that they are searched in.

#include "models/small_search.hpp"

#include "heuristics/greedy.hpp"
#include "models/backends/registry.hpp"
#include "models/encode/exchange.hpp"
#include "models/encode/time_indexed.hpp"
#include "models/retiming.hpp"
#include "models/small_times.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/solvers.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>

namespace tutti::test {
namespace {

using namespace models;

std::string exchange_at(const Instance& instance, Units64 horizon, const Backend& backend) {
    const Routing routing(instance);
    REQUIRE(has_exchanges(routing));
    const Question question = exchange(routing, no_quotient(routing), {horizon});
    CHECK_FALSE(question.refutes);
    return answer_to(routing, question, horizon, backend);
}

Collective all_reduce() { return collective(CollectiveKind::AllReduce); }

/// The best that `search_in_small_times` offers.
Ticks best_of(const Instance& instance, const Schedule& incumbent, Ticks bound) {
    Ticks best = incumbent.makespan;
    const HorizonRequest request{.instance = instance,
                                 .bound = {"latency", bound, std::monostate{}, 0},
                                 .incumbent = incumbent,
                                 .backends = {},
                                 .stop = Stop(Stop::Seconds(60)),
                                 .story = {},
                                 .judge = {}};
    search_in_small_times(request, [&](const Schedule& schedule, const std::string& who) {
        CHECK(who.starts_with("cpsat "));
        CHECK(schedule.makespan < best);
        CHECK(verify::verify(instance, schedule).valid());
        best = schedule.makespan;
        return true;
    });
    return best;
}

}  // namespace

TEST_CASE("E1 to E7: sums exchanged by two centres, where trees are the best there is") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    // The middle link of a line is crossed after a hop, by four chunks, and then there is a hop left.
    const Instance row = on_all(line(4, 1, 1), {all_reduce()});
    CHECK(exchange_at(row, 9, *solver.backend) == "found");
    CHECK(exchange_at(row, 8, *solver.backend) == "none");
    // A star that stores: no two hops of a chunk pass it at one tick.
    const Instance hub = on_all(star(4, {}, 1, 1), {all_reduce()});
    CHECK(exchange_at(hub, 14, *solver.backend) == "found");
    // A ring of 4: the diameter is 2, the optimum 3, as an exchange between neighbours.
    Net ring(4);
    ring.both(0, 1, 0, 1).both(1, 2, 0, 1).both(2, 3, 0, 1).both(3, 0, 0, 1);
    const Instance ring4 = on_all(ring, {all_reduce()});
    CHECK(exchange_at(ring4, 2, *solver.backend) == "none");
    CHECK(exchange_at(ring4, 3, *solver.backend) == "found");
}

TEST_CASE("exchanges keep releases: nobody sends its sum before its own contribution is there") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    Collective late = all_reduce();
    late.releases = {Ticks(0), Ticks(0), Ticks(4)};
    const Instance instance = on_all(line(3, 0, 1), {late});
    CHECK(exchange_at(instance, 8, *solver.backend) == "found");
    CHECK(exchange_at(instance, 5, *solver.backend) == "none");  // 4 + 2 hops
}

TEST_CASE("what is found as an exchange is valid, on random networks") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    std::size_t found = 0;
    for_seeds(cases(150), [&](Rng& rng, std::uint64_t) {
        InstanceParts parts =
            random_instance(rng, {.max_npus = 5, .max_collectives = 1, .max_ticks = 2, .physical = false});
        for (Collective& wanted : parts.collectives) {
            if (wanted.kind == CollectiveKind::Custom || wanted.kind == CollectiveKind::AllToAllV) return;
            wanted = all_reduce();
        }
        const Instance instance(std::move(parts));
        if (!is_feasible(instance) || instance.chunks() == 0) return;
        const Routing routing(instance);
        if (!has_exchanges(routing)) return;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        const Units64 horizon = 3 * routing.units(schedule->makespan);
        INFO(json_of(instance));
        const std::string answer =
            answer_to(routing, exchange(routing, no_quotient(routing), {horizon}), horizon, *solver.backend);
        CHECK((answer == "found" || answer == "none"));
        if (answer == "found") ++found;
    });
    CHECK(found > 0);
}

TEST_CASE("T11: links that are pressed for time start at multiples of their busy time") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    const Instance hub = on_all(star(4, {}, 1, 4), {collective(CollectiveKind::AllGather)});
    const Routing routing(hub);
    const auto answer_at = [&](Units64 horizon) {
        Asked asked{horizon};
        asked.pressed = true;
        const Question question = time_indexed(routing, no_quotient(routing), asked);
        CHECK_FALSE(question.refutes);
        return answer_to(routing, question, horizon, *solver.backend);
    };
    CHECK(answer_at(18) == "found");  // two ways of 5, and two more chunks
    CHECK(answer_at(17) == "none");
}

TEST_CASE("a schedule in other times keeps its orders, and comes back as it was") {
    std::size_t changed = 0;
    for_seeds(cases(60), [&](Rng& rng, std::uint64_t) {
        const Instance instance(random_instance(
            rng,
            {.max_npus = 5, .max_collectives = 1, .max_ticks = 3, .releases = false, .physical = false}));
        if (!is_feasible(instance) || !has_small_times(instance)) return;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        INFO(json_of(instance));
        const auto same = retimed(instance, *schedule, instance);
        REQUIRE(same);
        CHECK(same->makespan <= schedule->makespan);
        CHECK(same->sends.size() == schedule->sends.size());
        const Instance quick = quickened(instance, small_times(instance, 1));
        const auto there = retimed(instance, *schedule, quick);
        if (!there || !verify::verify(quick, *there).valid()) return;
        ++changed;
        const auto back = retimed(quick, *there, instance);
        REQUIRE(back);
        CHECK(back->sends.size() == schedule->sends.size());
    });
    CHECK(changed > 0);
}

namespace {

// Times without a common unit.
constexpr std::int64_t kAlpha = 400'003, kBeta = 41'943'041;

Instance hub_of_four() { return on_all(star(4, {}, kAlpha, kBeta), {collective(CollectiveKind::AllGather)}); }

/// One chunk after the other.
Schedule slow_gather() {
    std::vector<Send> sends;
    std::int64_t now = 0;
    for (std::size_t from = 0; from < 4; ++from) {
        for (std::size_t to = 0; to < 4; ++to) {
            if (from == to) continue;
            sends.push_back(copy(from, 2 * from, now));
            sends.push_back(copy(from, 2 * to + 1, now + kAlpha + kBeta));
            now += 2 * (kAlpha + kBeta);
        }
    }
    return schedule(now, std::move(sends));
}

}  // namespace

TEST_CASE("small times find what long times hide: a gather of four at the bound") {
    if (!find_backend("cpsat")->open()) return;
    const Instance hub = hub_of_four();
    const Schedule slow = slow_gather();
    REQUIRE(verify::verify(hub, slow).valid());
    const Ticks bound(4 * kBeta + 2 * kAlpha);
    CHECK(best_of(hub, slow, bound) == bound);
}

TEST_CASE(
    "small times: what was found is asked about again with another seed, as long as it is not the bound") {
    if (!find_backend("cpsat")->open()) return;
    const Instance hub = hub_of_four();
    const Schedule slow = slow_gather();
    // One tick below what is possible. Every answer is told with its horizon, and each that is found is
    // shorter than those before at its question, unless it is asked about again.
    std::map<std::string, int> found;
    std::atomic<bool> again = false;
    const HorizonRequest request{.instance = hub,
                                 .bound = {"latency", Ticks(4 * kBeta + 2 * kAlpha - 1), std::monostate{}, 0},
                                 .incumbent = slow,
                                 .backends = {},
                                 .stop = Stop(Stop::Seconds(60), &again),
                                 .story =
                                     [&](const std::string& line) {
                                         if (line.find("in real times") == std::string::npos) return;
                                         std::string question = line.substr(0, line.find(':'));
                                         if (const auto order = line.find(" symmetries");
                                             order != std::string::npos)
                                             question += line.substr(order - 3, 3);
                                         if (++found[question] == 2) again = true;
                                     },
                                 .judge = {}};
    search_in_small_times(request, [&](const Schedule& schedule, const std::string&) {
        return verify::verify(hub, schedule).valid();
    });
    CHECK(again);
}

}  // namespace tutti::test
