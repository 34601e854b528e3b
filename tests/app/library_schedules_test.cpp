#include "app/library_schedules.hpp"

#include "lang/library.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

namespace tutti::app {
namespace {

/// A ring of n NPUs with direct links both ways, or links between all.
Instance on_ring(std::uint32_t n, CollectiveKind kind) {
    test::Net net(n);
    for (std::uint32_t i = 0; i < n; ++i) net.both(i, (i + 1) % n, 1, 2);
    return test::on_all(net, {test::collective(kind)});
}
Instance on_full(std::uint32_t n, CollectiveKind kind) {
    test::Net net(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t j = i + 1; j < n; ++j) net.both(i, j, 1, 2);
    }
    return test::on_all(net, {test::collective(kind)});
}

std::optional<Schedule> with_defaults(std::string_view name, const Instance& instance) {
    const lang::AlgorithmRequest request{.kind = instance.collectives().front().kind,
                                         .ranks = static_cast<std::uint32_t>(instance.topology().npus()),
                                         .in_place = false};
    return schedule_of(lang::program_of(lang::algorithm_named(name), request), instance, {});
}

}  // namespace

TEST_CASE("programs are schedules that take as long as their messages do") {
    // A message takes 3 ticks, and a link is busy for 2 of them.
    const auto ring = with_defaults("ring", on_ring(5, CollectiveKind::AllReduce));
    REQUIRE(ring);
    CHECK(verify::verify(on_ring(5, CollectiveKind::AllReduce), *ring).valid());
    CHECK(ring->makespan == Ticks(8 * 3));
    CHECK(ring->sends.size() == 5 * 8);
    const auto pairs = with_defaults("all-pairs", on_full(4, CollectiveKind::AllReduce));
    REQUIRE(pairs);
    CHECK(verify::verify(on_full(4, CollectiveKind::AllReduce), *pairs).valid());
    CHECK(pairs->makespan == Ticks(2 * 3));
    // Its one chunk is cut into the instance's four, which follow each other.
    const auto doubling = with_defaults("recursive-doubling", on_full(4, CollectiveKind::AllReduce));
    REQUIRE(doubling);
    CHECK(verify::verify(on_full(4, CollectiveKind::AllReduce), *doubling).valid());
    CHECK(doubling->makespan == Ticks(2 * (1 + 4 * 2)));
}

TEST_CASE("a sum may take the place of a part of it: an all-reduce on a mesh takes as long as its diameter") {
    test::Net net(8);  // 4 x 2
    for (std::uint32_t i = 0; i < 8; ++i) {
        if (i % 4 < 3) net.both(i, i + 1, 100, 1);
        if (i < 4) net.both(i, i + 4, 100, 1);
    }
    const Instance instance = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
    const lang::Trace program =
        lang::program_of(lang::algorithm_named("mesh-all-reduce"),
                         {.ranks = 8, .in_place = false, .parameters = {{"width", 4}}});
    const auto schedule = schedule_of(program, instance, {});
    REQUIRE(schedule);
    CHECK(verify::verify(instance, *schedule).valid());
    // Four messages one after the other, of at most 8 chunks each.
    CHECK(schedule->makespan >= Ticks(4 * 100));
    CHECK(schedule->makespan <= Ticks(4 * (100 + 8)));
}

TEST_CASE("all algorithms whose ranks have links for all messages are valid schedules") {
    std::set<std::string> valid;
    for (const CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather,
                                      CollectiveKind::ReduceScatter, CollectiveKind::AllToAll}) {
        const Instance instance = on_full(8, kind);
        for (const lang::Algorithm& algorithm : lang::algorithms()) {
            if (std::ranges::find(algorithm.kinds, kind) == algorithm.kinds.end()) continue;
            const auto schedule = with_defaults(algorithm.name, instance);
            // Its 7 chunks are no parts of 8.
            CHECK(schedule.has_value() == (algorithm.name != "straggler"));
            if (!schedule) continue;
            CAPTURE(algorithm.name);
            CAPTURE(name_of(kind));
            CHECK(verify::verify(instance, *schedule).valid());
        }
    }
}

TEST_CASE("the library offers nothing that is no better") {
    const Instance instance = on_ring(8, CollectiveKind::AllGather);
    std::vector<std::string> offered;
    Ticks least = Ticks::max();
    const auto take = [&](std::string_view who, const Schedule& schedule) {
        CHECK(schedule.makespan < least);
        if (!verify::verify(instance, schedule).valid()) return false;
        least = schedule.makespan;
        offered.emplace_back(who);
        return true;
    };
    propose_library(instance, Ticks::max(), {}, take);
    CHECK_FALSE(offered.empty());
    const std::size_t before = offered.size();
    propose_library(instance, least, {}, take);
    CHECK(offered.size() == before);
}

TEST_CASE("a synthesis that has no time for textbook algorithms takes one of the library") {
    test::Net net(8);
    for (std::uint32_t i = 0; i < 8; ++i) {
        for (const std::uint32_t bit : {1U, 2U, 4U}) {
            if ((i & bit) == 0) net.both(i, i | bit, 100, 1);
        }
    }
    const Instance cube = test::on_all(net, {test::collective(CollectiveKind::AllReduce)});
    synth::Request request;
    request.method = "greedy";
    request.stop = Stop(Stop::Seconds(0));
    const synth::Result alone = synth::synthesize(cube, request);
    request.proposals = [](const Instance& instance, Ticks below, const Stop&,
                           const synth::ProposalTaker& take) {
        propose_library(instance, below, {}, take);  // however slow the machine is
    };
    const synth::Result helped = synth::synthesize(cube, request);
    // Three rounds of eight chunks, or less where those of a round do not wait for all of the last one.
    CHECK(helped.schedule.makespan <= Ticks(3 * 108));
    CHECK(helped.schedule.makespan < alone.schedule.makespan);
    CHECK(helped.method == "library recursive-doubling");
    CHECK(verify::verify(cube, helped.schedule).valid());
}

}  // namespace tutti::app
