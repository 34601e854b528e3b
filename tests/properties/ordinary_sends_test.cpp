// The verifier's short ways (ordinary sends, counted sums) against the second checker, on instances whose
// sends mostly take them: valid schedules, and those with one send changed.

#include "core/rng.hpp"
#include "heuristics/ring/ring.hpp"
#include "synth/synthesize.hpp"
#include "tests/mutants/mutations.hpp"
#include "tests/oracle/second_checker.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/random_schedule.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>

using namespace tutti;
using namespace tutti::test;

namespace {

/// A source that gives its sends in small pieces, so that ticks are cut anywhere.
class InPieces final : public SendSource {
  public:
    InPieces(const Schedule& schedule, std::size_t piece) : schedule_(schedule), piece_(piece) {}
    [[nodiscard]] std::span<const Send> next() override {
        begin_ = end_;
        end_ = std::min(end_ + piece_, schedule_.sends.size());
        return std::span(schedule_.sends).subspan(begin_, end_ - begin_);
    }
    [[nodiscard]] Ticks makespan() const override { return schedule_.makespan; }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return begin_ + i; }

  private:
    const Schedule& schedule_;
    std::size_t piece_, begin_ = 0, end_ = 0;
};

/// NPUs, and perhaps switches that only forward.
InstanceParts plain_instance(Rng& rng) {
    const InstanceOptions options{.max_npus = 6,
                                  .max_switches = rng.below(2) == 0 ? 0U : 2U,
                                  .max_collectives = 2,
                                  .max_chunks = 2,
                                  .max_ticks = 3};
    InstanceParts parts = random_instance(rng, options);
    for (SwitchRule& rule : parts.topology.switches) rule = {.copy = rule.copy};
    return parts;
}

/// Collectives through one or two tiers of switches of every rule; half of the networks have equal links and
/// many cut-through switches.
Instance switched(Rng& rng, std::span<const CollectiveKind> kinds) {
    const auto npus = static_cast<std::uint32_t>(3 + rng.below(4));
    Net net(npus);
    const std::size_t leaves = 1 + rng.below(2);
    const bool even = rng.below(2) == 0;
    const auto rule = [&] {
        SwitchRule made{.copy = rng.below(even ? 6 : 2) == 0};
        if (rng.below(6) == 0) made.reduce = true;
        if (rng.below(even ? 2 : 6) == 0) {
            made.cut_through = true;
        } else if (rng.below(8) == 0) {
            made.buffer = static_cast<std::uint32_t>(1 + rng.below(3));
        }
        return made;
    };
    std::vector<std::size_t> tier;
    for (std::size_t i = 0; i < leaves; ++i) tier.push_back(net.add_switch(rule()));
    const auto ticks = [&](std::uint64_t least) {
        return static_cast<std::int64_t>(even ? 1 : least + rng.below(2));
    };
    // Without latency a chunk passes switches that cut through at one tick.
    const bool at_once = even && rng.below(2) == 0;
    const auto latency = [&](std::uint64_t least) {
        return at_once ? std::int64_t{rng.below(6) == 0} : ticks(least);
    };
    for (std::size_t npu = 0; npu < npus; ++npu) net.both(npu, tier[npu % leaves], latency(0), ticks(1));
    if (leaves > 1) {
        const std::size_t top = net.add_switch(rule());
        for (const std::size_t leaf : tier) net.both(leaf, top, latency(1), ticks(1));
    }
    std::vector<Collective> wanted{collective(kinds[rng.below(kinds.size())])};
    if (rng.below(4) == 0) wanted.push_back(collective(CollectiveKind::AllGather, "d"));
    return on_all(net, wanted);
}

std::set<std::string> codes(const Verdict& verdict) {
    std::set<std::string> result;
    for (const Violation& violation : verdict.violations) result.emplace(code_of(violation.rule));
    return result;
}

using Tally = std::map<std::string, std::uint64_t>;

/// Without sends that the checkers need not see to disagree in the same codes.
Schedule shrunk(const Instance& instance, Schedule schedule) {
    const auto difference = [&](const Schedule& judged) {
        const Opinions opinions = opinions_on(instance, judged);
        std::set<std::string> codes;
        std::ranges::set_symmetric_difference(opinions.verifier, opinions.second,
                                              std::inserter(codes, codes.end()));
        return codes;
    };
    const auto whole = difference(schedule);
    for (std::size_t i = 0; i < schedule.sends.size();) {
        Schedule smaller = schedule;
        smaller.sends.erase(smaller.sends.begin() + static_cast<std::ptrdiff_t>(i));
        if (difference(smaller) != whole) {
            ++i;
        } else {
            schedule = std::move(smaller);
        }
    }
    return schedule;
}

/// Both checkers agree, and the verifier says the same whatever the pieces and the order within a tick.
void compare(const Instance& instance, Schedule schedule, Rng& rng, Tally& tally) {
    const auto context = [&] { return text_of(instance, schedule) + json_of(instance); };
    std::ranges::stable_sort(schedule.sends, starts_before);
    const Opinions opinions = opinions_on(instance, schedule);
    CHECK_MESSAGE(opinions.agree(), opinions.text() << "\n"
                                                    << text_of(instance, shrunk(instance, schedule))
                                                    << json_of(instance));
    for (const std::size_t piece : {1UL, 1 + rng.below(5)}) {
        InPieces source(schedule, piece);
        const Verdict verdict = verify::verify(instance, source, {schedule.sends.size() * 50 + 1000});
        CHECK_MESSAGE(codes(verdict) == opinions.verifier, "in pieces of " << piece << "\n" << context());
        CHECK(verdict.makespan == opinions.verifier_makespan);
        CHECK(verdict.finish == opinions.second_finish);
    }
    rng.shuffle(schedule.sends);
    CHECK_MESSAGE(codes(verify::verify(instance, schedule, {schedule.sends.size() * 50 + 1000})) ==
                      opinions.verifier,
                  "in another order\n"
                      << context());
    if (opinions.second.empty()) ++tally["valid"];
    for (const std::string& code : opinions.second) ++tally[code];
}

/// Both checkers on a valid schedule, on every mutation of it and on chunks that move at random.
void compare_around(const Instance& instance, const std::optional<Schedule>& healthy, Rng& rng,
                    Tally& tally) {
    if (!healthy) return;
    compare(instance, *healthy, rng, tally);
    for (const auto& mutation : mutants::catalogue()) {
        auto mutant = mutation.apply(instance, *healthy, rng);
        if (!mutant) continue;
        if (!mutation.about_makespan) mutant->makespan = oracle::second_check(instance, *mutant).makespan;
        compare(instance, *mutant, rng, tally);
    }
    Schedule walk = random_walk(instance, rng, 1 + rng.below(40));
    walk.makespan = oracle::second_check(instance, walk).makespan;
    compare(instance, walk, rng, tally);
}

std::optional<Schedule> healthy_schedule(const Instance& instance, std::uint64_t seed) {
    try {
        synth::Request request;
        request.method = "greedy";
        request.seed = seed;
        return synth::synthesize(instance, request).schedule;
    } catch (const InfeasibleError&) {
        return std::nullopt;
    }
}

}  // namespace

TEST_CASE("the verifier's fast path agrees with the second checker on valid and broken schedules") {
    Tally tally;
    const std::uint64_t count = cases(300);
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const Instance instance(plain_instance(rng));
        const auto healthy = healthy_schedule(instance, seed);
        if (!healthy) return;
        compare(instance, *healthy, rng, tally);
        for (const auto& mutation : mutants::catalogue()) {
            auto mutant = mutation.apply(instance, *healthy, rng);
            if (!mutant) continue;
            if (!mutation.about_makespan) mutant->makespan = oracle::second_check(instance, *mutant).makespan;
            compare(instance, *mutant, rng, tally);
        }
    });
    if (count < 300) return;
    for (const std::string code :
         {"valid", "unknown_chunk", "unknown_link", "bad_start", "link_overlap", "not_held", "before_release",
          "relay_forbidden", "switch_copy", "switch_reduce", "double_count", "demand_unmet", "demand_wrong",
          "makespan_mismatch"}) {
        CHECK_MESSAGE(tally[code] >= 5, code << " was seen " << tally[code] << " times");
    }
}

TEST_CASE("the verifier agrees with the second checker on chunks that take detours") {
    Tally tally;
    const std::uint64_t count = cases(1500);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const Instance instance(plain_instance(rng));
        Schedule schedule = random_walk(instance, rng, 1 + rng.below(30));
        schedule.makespan = oracle::second_check(instance, schedule).makespan;
        compare(instance, schedule, rng, tally);
    });
    if (count < 1500) return;
    for (const std::string code : {"link_overlap", "not_held", "before_release", "switch_copy",
                                   "double_count", "arrival_race", "demand_wrong"}) {
        CHECK_MESSAGE(tally[code] >= 5, code << " was seen " << tally[code] << " times");
    }
}

TEST_CASE("the verifier agrees with the second checker on sums through switches of every rule") {
    Tally tally;
    const std::uint64_t count = cases(80);
    constexpr CollectiveKind kKinds[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                                         CollectiveKind::Reduce};
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const Instance instance = switched(rng, kKinds);
        const bool ring = rng.below(2) == 0;
        const auto healthy =
            ring ? heuristics::ring_schedule(instance, {}) : healthy_schedule(instance, seed);
        compare_around(instance, healthy, rng, tally);
    });
    if (count < 80) return;
    for (const std::string code : {"valid", "link_overlap", "not_held", "switch_copy", "switch_reduce",
                                   "cut_through", "double_count", "demand_unmet", "demand_wrong"}) {
        CHECK_MESSAGE(tally[code] >= 5, code << " was seen " << tally[code] << " times");
    }
}

TEST_CASE("the verifier agrees with the second checker on plain chunks through switches of every rule") {
    Tally tally;
    const std::uint64_t count = cases(60);
    constexpr CollectiveKind kKinds[] = {CollectiveKind::AllGather, CollectiveKind::AllToAll,
                                         CollectiveKind::Broadcast};
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const Instance instance = switched(rng, kKinds);
        const bool ring = rng.below(2) == 0;
        const auto healthy =
            ring ? heuristics::ring_schedule(instance, {}) : healthy_schedule(instance, seed);
        compare_around(instance, healthy, rng, tally);
    });
    if (count < 60) return;
    for (const std::string code : {"valid", "link_overlap", "not_held", "switch_copy", "cut_through"}) {
        CHECK_MESSAGE(tally[code] >= 5, code << " was seen " << tally[code] << " times");
    }
}

TEST_CASE("an all-reduce by exchange, which cannot be counted, is valid") {
    const Instance instance = on_all(Net(2).both(0, 1), {[] {
                                         auto c = collective(CollectiveKind::AllReduce);
                                         return c;
                                     }()});
    REQUIRE(instance.chunks() == 2);
    CHECK(broken(instance, schedule(2, {reduce(0, 0, 0), reduce(0, 1, 0), reduce(1, 0, 1),
                                        reduce(1, 1, 1)})) == std::set<std::string>{});
}

TEST_CASE("a partial sum that is sent again after the full sum came to be is a double count") {
    // 2 -> 1 -> 0 adds up; 0 gives the sum back to 1; then 2, which still has its own part, sends it again.
    const Instance instance = on_all(line(3), {custom({0, 1, 2}, {0, 1}, true)});
    const auto sends = {reduce(0, 3, 0), reduce(0, 1, 1), copy(0, 0, 2)};
    CHECK(broken(instance, schedule(3, sends)) == std::set<std::string>{});
    std::vector<Send> again(sends);
    again.push_back(reduce(0, 3, 3));
    const Verdict verdict = verify::verify(instance, schedule(4, again));
    REQUIRE(verdict.violation_count == 1);
    CHECK(verdict.violations[0].rule == Rule::DoubleCount);
    CHECK(verdict.violations[0].sends == std::vector<std::uint64_t>{3});
    CHECK(broken(instance, schedule(4, again)) == std::set<std::string>{"double_count"});
}

TEST_CASE("one bad send in a tick of good ones is named, and the others still count") {
    Collective gather = collective(CollectiveKind::AllGather);
    const Instance instance = on_all(line(3), {gather});
    // At tick 0 everybody sends its own chunk; send 2 takes a chunk that NPU 1 does not have.
    const Schedule bad = schedule(
        2, {copy(0, 0, 0), copy(1, 1, 0), copy(0, 2, 0), copy(2, 3, 0), copy(2, 1, 1), copy(0, 2, 1)});
    const Verdict verdict = verify::verify(instance, bad);
    REQUIRE(verdict.violations.size() == 2);
    CHECK(verdict.violations[0].rule == Rule::NotHeld);
    CHECK(verdict.violations[0].sends == std::vector<std::uint64_t>{2});
    CHECK(verdict.violations[1].rule == Rule::DemandUnmet);
    CHECK(verdict.violations[1].chunk == ChunkId(1));
    CHECK(verdict.violations[1].node == NodeId(2));
}
