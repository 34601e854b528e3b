#include "synth/bounding.hpp"

#include "io/instance_json.hpp"
#include "models/backends/registry.hpp"
#include "source_dir.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace tutti;
using namespace tutti::test;

namespace {

std::vector<std::string> kinds_of(const std::vector<SkippedBound>& skipped, std::string_view reason) {
    std::vector<std::string> kinds;
    for (const auto& [kind, why] : skipped) {
        if (why.starts_with(reason)) kinds.push_back(kind);
    }
    return kinds;
}

using Kinds = std::vector<std::string>;
const Kinds kNotLinear{"cut",
                       "wave",
                       "trees",
                       "growth",
                       "sum",
                       "contributions",
                       "pairs",
                       "exits",
                       "deadlines",
                       "flow",
                       "flow (linear program)",
                       "time-expanded"};

/// Two cliques of four NPUs and a bridge, over which four chunks must go each way.
Instance two_cliques() {
    Net net(8);
    for (const std::size_t base : {std::size_t{0}, std::size_t{4}}) {
        for (std::size_t i = 0; i < 4; ++i) {
            for (std::size_t j = i + 1; j < 4; ++j) net.both(base + i, base + j);
        }
    }
    net.both(3, 4);
    return on_all(net, {collective(CollectiveKind::AllGather)});
}

bool has_linear_solver() { return static_cast<bool>(models::find_backend("highs")->open()); }

}  // namespace

TEST_CASE("a bound that is met makes all others unnecessary") {
    const Instance instance = two_cliques();
    synth::Bounding bounding(instance);
    bounding.begin({});
    const Ticks near_linear = bounding.best().value;
    bounding.go_on(near_linear, {});
    CHECK(kinds_of(bounding.skipped(), "not needed") == kNotLinear);
    // A longer schedule needs more, and that is then there.
    bounding.go_on(Ticks(1'000'000), {});
    CHECK(bounding.best().value > near_linear);
    CHECK(kinds_of(bounding.skipped(), "not needed").empty());
    CHECK(kinds_of(bounding.skipped(), "no solver").size() == (has_linear_solver() ? 0 : 2));
}

TEST_CASE("a bound that had no time is named, and computed when there is some") {
    const Instance instance = two_cliques();
    const std::atomic<bool> raised{true};
    synth::Bounding bounding(instance);
    bounding.begin({});
    bounding.go_on(std::nullopt, Stop({}, &raised));
    CHECK(kinds_of(bounding.skipped(), "no time") == kNotLinear);
    bounding.go_on(std::nullopt, {});
    CHECK(kinds_of(bounding.skipped(), "no time").empty());
    CHECK(bounding.best().value == synth::bounds_of(instance).best().value);
    // Stopped from the first, even the near-linear ones may be less than they could be.
    synth::Bounding hurried(instance);
    hurried.begin(Stop({}, &raised));
    CHECK(kinds_of(hurried.skipped(), "no time").size() >= 4);
}

TEST_CASE("a linear program beyond bound-entries is skipped with a word") {
    if (!has_linear_solver()) return;
    SearchOptions options;
    options.bound_entries = 10;
    const Kinds programs{"flow (linear program)", "time-expanded"};
    CHECK(kinds_of(synth::bounds_of(two_cliques(), {}, {}, options).skipped(), "too large") == programs);
}

TEST_CASE("knowing a schedule changes which bounds are computed, never the best of them") {
    for_seeds(cases(40), [](Rng& rng, std::uint64_t) {
        const Instance instance(random_instance(rng));
        if (!is_feasible(instance)) return;
        const Ticks best = synth::bounds_of(instance).best().value;
        for (const std::int64_t more : {0, 1, 1'000'000'000}) {
            const auto known = synth::bounds_of(instance, best + Ticks(more));
            CHECK(known.best().value == best);
        }
    });
}

TEST_CASE("a bound whose certificate takes too long to check is left out, and the next one is the best") {
    // Latencies of 25 000 betas: the fastest process has too many steps to be followed.
    const Instance instance = io::read_instance(TUTTI_SOURCE_DIR "/tests/data/textbook/fattree64-1byte.json");
    const synth::Bounding bounding = synth::bounds_of(instance);
    CHECK(bounding.best().kind == "ingress");
    const auto skipped = bounding.skipped();
    const auto pairs = std::ranges::find(skipped, "pairs", &SkippedBound::kind);
    REQUIRE(pairs != skipped.end());
    CHECK(pairs->why == "too large: its certificate takes too long to check");
}
