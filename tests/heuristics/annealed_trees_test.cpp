// Trees found by simulated annealing: valid wherever they apply, and short where links differ.

#include "heuristics/exchange/annealed_trees.hpp"

#include "io/instance_json.hpp"
#include "source_dir.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

constexpr std::uint64_t kFewMessages = 20'000;

/// A ring with chords, all links different.
Net random_net(Rng& rng) {
    const std::size_t npus = 2 + rng.below(7);
    Net net(static_cast<std::uint32_t>(npus));
    const auto some = [&](std::uint64_t most) { return static_cast<std::int64_t>(rng.below(most + 1)); };
    for (std::size_t u = 0; u < npus; ++u) {
        for (std::size_t v = 0; v < npus; ++v) {
            if (u == v || (v != (u + 1) % npus && u != (v + 1) % npus && rng.below(3) > 0)) continue;
            net.link(u, v, some(4), 1 + some(4));
        }
    }
    if (rng.below(3) == 0) net.one_in_flight();
    return net;
}

}  // namespace

TEST_CASE("annealed trees are valid on random networks of NPUs") {
    for_seeds(cases(200), [](Rng& rng, std::uint64_t) {
        Collective sum = collective(CollectiveKind::AllReduce);
        sum.chunks = 1 + rng.below(2);
        const Instance instance = on_all(random_net(rng), {sum});
        REQUIRE(why_no_annealed_trees(instance).empty());
        INFO(json_of(instance));
        const auto schedule =
            anneal_exchange(Exchanges(instance, {}), Ticks(0), rng.next(), kFewMessages, {});
        REQUIRE(schedule);
        CHECK(broken(instance, *schedule).empty());
    });
}

TEST_CASE("annealed trees are for sums of all NPUs, without switches") {
    const auto why = [](const Net& net, const Collective& what) {
        return why_no_annealed_trees(on_all(net, {what}));
    };
    CHECK(why(line(3), collective(CollectiveKind::AllReduce)).empty());
    CHECK_FALSE(why(line(3), collective(CollectiveKind::AllGather)).empty());
    CHECK_FALSE(why(line(3), custom({0, 1}, {0, 1}, true)).empty());
    CHECK_FALSE(why(star(3, {}), collective(CollectiveKind::AllReduce)).empty());
    Collective late = collective(CollectiveKind::AllReduce);
    late.release = Ticks(2);
    CHECK_FALSE(why(line(3), late).empty());
}

TEST_CASE("annealed trees avoid a slow row of a torus") {
    // 12 steps of 10.5 us and some latencies, where grown trees take 13.
    const Instance instance =
        io::read_instance(TUTTI_SOURCE_DIR "/instances/torus/torus4x4-slow-row-ar.json");
    const auto schedule = anneal_exchange(Exchanges(instance, {}), Ticks(0), 1, 8'000'000, {});
    REQUIRE(schedule);
    CHECK(broken(instance, *schedule).empty());
    CHECK(schedule->makespan < Ticks(133'000'000));
}
