#include "heuristics/levels/last_rank.hpp"

#include "bounds/bounds.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <bit>

namespace tutti::test {
namespace {

/// Sums of all NPUs behind one crossbar for all of them, one for each but the last, which is late.
Instance straggler(std::uint32_t npus, std::int64_t delay, std::size_t sums, std::int64_t alpha = 0,
                   std::int64_t beta = 1) {
    std::vector<NodeId> all;
    for (std::uint32_t n = 0; n < npus; ++n) all.emplace_back(n);
    Collective made = collective(CollectiveKind::Custom);
    made.demands.assign(sums, {all, all, true, {}});
    made.releases.assign(npus, Ticks(0));
    made.releases.back() = Ticks(delay);
    return on_all(star(npus, {.cut_through = true}, alpha, beta), {made});
}

/// The rounds of StragglAR (Devraj et al. 2025) on 2^q NPUs: a reduce-scatter among the others, then the
/// exchange with the straggler.
std::int64_t rounds_of_stragglar(std::uint32_t npus, std::int64_t delay) {
    return std::max<std::int64_t>(delay, npus - 2) + npus - 2 + std::countr_zero(npus);
}

}  // namespace

TEST_CASE("a late straggler's all-reduce takes no longer than StragglAR's") {
    for (const std::uint32_t npus : {4U, 8U, 16U}) {
        for (const std::int64_t delay : {npus - 2L, npus - 1L, npus + 1L, npus + 3L, 2L * npus, 5L * npus}) {
            CAPTURE(npus);
            CAPTURE(delay);
            const Instance instance = straggler(npus, delay, npus - 1);
            const auto found = heuristics::last_rank(instance, {});
            REQUIRE(found);
            CHECK(broken(instance, *found).empty());
            CHECK(found->makespan.count() <= rounds_of_stragglar(npus, delay));
            const auto bounds = bounds::all_bounds(instance);
            CHECK(bounds.front().value <= found->makespan);
        }
    }
}

TEST_CASE("nor does it where messages have a latency") {
    // Rounds of StragglAR that take 2 alpha + beta each: the first after the reduce-scatter of the others, in
    // n - 2 rounds of beta. A tick is little here, in which two messages of one chunk cannot meet.
    constexpr std::int64_t kAlpha = 300, kBeta = 19'200, kNpus = 32;
    constexpr std::int64_t kOthers = (kNpus - 2) * kBeta + 2 * kAlpha, kRounds = kNpus - 2 + 5;
    const Instance instance = straggler(kNpus, kOthers / 2, kNpus - 1, kAlpha, kBeta);
    const auto found = heuristics::last_rank(instance, {});
    REQUIRE(found);
    CHECK(broken(instance, *found).empty());
    CHECK(found->makespan.count() <= kOthers + kRounds * (2 * kAlpha + kBeta) + 2 * kNpus);
}

TEST_CASE("the bounds know that all of a straggler's data leaves after its release") {
    // 7 chunks leave NPU 7 after tick 50, the last of them a tick before it is anywhere.
    CHECK(bounds::all_bounds(straggler(8, 50, 7)).front().value >= Ticks(57));
}

TEST_CASE("where several ranks are late the last of them goes last") {
    for_seeds(cases(20), [](Rng& rng, std::uint64_t) {
        const auto npus = static_cast<std::uint32_t>(3 + rng.below(6));
        Collective made = collective(CollectiveKind::AllReduce);
        for (std::uint32_t n = 0; n < npus; ++n)
            made.releases.emplace_back(static_cast<std::int64_t>(rng.below(3) * rng.below(12)));
        const Instance instance = on_all(star(npus, {.cut_through = rng.below(2) == 0}, 1, 2), {made});
        const auto found = heuristics::last_rank(instance, {});
        CHECK(found.has_value() == heuristics::why_no_last_rank(instance).empty());
        if (found) CHECK(broken(instance, *found).empty());
    });
}

TEST_CASE("it applies to sums with a late contributor behind switches only") {
    CHECK(heuristics::why_no_last_rank(straggler(4, 3, 3)).empty());
    CHECK_FALSE(heuristics::why_no_last_rank(straggler(4, 0, 3)).empty());
    Collective late = collective(CollectiveKind::AllGather);
    late.releases = {Ticks(0), Ticks(1), Ticks(0)};
    CHECK_FALSE(heuristics::why_no_last_rank(on_all(star(3, {}), {late})).empty());
    late.kind = CollectiveKind::AllReduce;
    CHECK_FALSE(heuristics::why_no_last_rank(on_all(line(3), {late})).empty());
}

TEST_CASE("synth lets the others sum while a rank is late") {
    // Without switches: a line, a ring, a full network. What remains after the release is never more than a
    // whole all-reduce, and often less.
    Net full(4);
    for (std::uint32_t a = 0; a < 4; ++a) {
        for (std::uint32_t b = a + 1; b < 4; ++b) full.both(a, b);
    }
    Net ring(4);
    for (std::uint32_t a = 0; a < 4; ++a) ring.both(a, (a + 1) % 4);
    std::size_t shorter = 0;
    for (const Net& net : {line(4), ring, full}) {
        Collective sums = collective(CollectiveKind::AllReduce);
        sums.chunks = 2;
        synth::Request request;
        request.method = "greedy";
        const Ticks whole = synth::synthesize(on_all(net, {sums}), request).schedule.makespan;
        for (std::size_t late = 0; late < 4; ++late) {
            CAPTURE(late);
            sums.releases.assign(4, Ticks(0));
            sums.releases[late] = Ticks(40);
            const auto result = synth::synthesize(on_all(net, {sums}), request);
            CHECK(result.schedule.makespan <= Ticks(40) + whole);
            shorter += result.schedule.makespan < Ticks(40) + whole ? 1U : 0U;
            CHECK(result.bound.value > Ticks(40));
        }
    }
    CHECK(shorter > 0);
}

}  // namespace tutti::test
