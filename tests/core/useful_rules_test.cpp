#include "core/useful_rules.hpp"

#include "bounds/bounds.hpp"
#include "synth/synthesize.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/tiny_instance.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace tutti::test {
namespace {

constexpr SwitchRule kAble{.copy = true, .reduce = true, .cut_through = true};

/// The rule of the only switch that is left, if it is another.
std::optional<SwitchRule> useful_rule(const std::vector<Collective>& collectives) {
    const auto useful = with_useful_rules(on_all(star(4, kAble), collectives));
    if (!useful) return std::nullopt;
    return useful->topology().parts().switches.front();
}

std::optional<Instance> feasible_instance(InstanceParts parts) {
    Instance instance(std::move(parts));
    return is_feasible(instance) ? std::optional(std::move(instance)) : std::nullopt;
}

/// The switches, or the first of them, can do something more.
TopologyParts strengthened(TopologyParts topology, Rng& rng) {
    const bool all = rng.below(2) == 0;
    for (SwitchRule& rule : topology.switches) {
        const std::uint64_t what = rng.below(2);
        if (rule.buffer) {
            ++*rule.buffer;
        } else if (!rule.copy && (rule.reduce || what == 0)) {
            rule.copy = true;
        } else {
            rule.reduce = true;
        }
        if (!all) break;
    }
    return topology;
}

}  // namespace

TEST_CASE("copying is of use where a chunk has two receivers, adding where there are sums") {
    CHECK(useful_rule({collective(CollectiveKind::AllToAll)}) == SwitchRule{.cut_through = true});
    CHECK(useful_rule({collective(CollectiveKind::AllGather)}) ==
          SwitchRule{.copy = true, .cut_through = true});
    CHECK(useful_rule({collective(CollectiveKind::ReduceScatter)}) ==
          SwitchRule{.reduce = true, .cut_through = true});
    CHECK_FALSE(useful_rule({collective(CollectiveKind::AllReduce)}).has_value());
    // One collective that can use it is enough.
    CHECK(useful_rule({collective(CollectiveKind::AllToAll), collective(CollectiveKind::AllGather, "d")}) ==
          SwitchRule{.copy = true, .cut_through = true});
    CHECK_FALSE(with_useful_rules(on_all(star(4, {}), {collective(CollectiveKind::AllToAll)})).has_value());
}

TEST_CASE("what is done in vain makes no schedule shorter") {
    std::uint64_t compared = 0;
    const std::uint64_t count = cases(150);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const Instance instance = tiny_instance(rng);
        const auto useful = with_useful_rules(instance);
        if (!useful) return;
        INFO(json_of(instance));
        const auto whole = oracle::brute_force_optimum(instance, Ticks(12), 10'000);
        const auto part = oracle::brute_force_optimum(*useful, Ticks(12), 10'000);
        if (whole.answer == oracle::BruteForceAnswer::WorkLimit ||
            part.answer == oracle::BruteForceAnswer::WorkLimit)
            return;
        ++compared;
        CHECK(whole.optimum == part.optimum);
        if (part.optimum) CHECK(broken(instance, part.schedule).empty());
    });
    CHECK(compared >= count / 10);
}

TEST_CASE("bounds are those of what is of use, and are checked so") {
    const Instance able = on_all(star(5, kAble, 1, 2), {collective(CollectiveKind::AllToAll)});
    const Instance plain =
        on_all(star(5, {.cut_through = true}, 1, 2), {collective(CollectiveKind::AllToAll)});
    const auto found = bounds::all_bounds(able), expected = bounds::all_bounds(plain);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].kind == expected[i].kind);
        CHECK(found[i].value == expected[i].value);
        CHECK(verify::check_certificate(able, found[i]).value_or("") == "");
    }
}

TEST_CASE("an ability that is of no use does not mislead the search") {
    // Three chunks from one of eight NPUs on a crossbar: 3 - 1 + log2 8 rounds.
    Collective three = collective(CollectiveKind::Broadcast);
    three.chunks = 3;
    three.root = Rank(5);
    synth::Request request;
    request.method = "greedy";
    for (const bool reduce : {false, true}) {
        const Instance instance = on_all(star(8, {.reduce = reduce, .cut_through = true}, 0, 1'000), {three});
        CHECK(synth::synthesize(instance, request).schedule.makespan == Ticks(5'000));
    }
}

TEST_CASE("what is valid is valid where switches can do more, and synth finds nothing longer there") {
    std::uint64_t pairs = 0;
    const std::uint64_t count = cases(60);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        InstanceParts parts = random_cluster(rng);
        const auto weak = feasible_instance(parts);
        if (!weak || weak->topology().npus() > 8 || weak->chunks() > 20) return;
        parts.topology = strengthened(std::move(parts.topology), rng);
        const Instance strong(std::move(parts));
        if (strong.topology().parts().switches == weak->topology().parts().switches) return;
        INFO(json_of(strong));
        synth::Request request;
        request.method = "greedy";
        // Little is tried, and no linear program solved.
        request.options.bound_entries = 1;
        request.options.exchange_tries = 32;
        request.options.order_work = 100'000;
        request.options.repair_work = 10'000;
        request.options.tries = 4;
        const synth::Result before = synth::synthesize(*weak, request);
        CHECK(broken(strong, before.schedule).empty());
        CHECK(synth::synthesize(strong, request).schedule.makespan <= before.schedule.makespan);
        ++pairs;
    });
    CHECK(pairs >= count / 4);
}

}  // namespace tutti::test
