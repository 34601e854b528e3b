// Valid schedules, broken one way each. The second checker says whether a mutant is broken at all; the
// verifier must then say so too, with the same codes, and name the rule of the mutation. Every mutation must
// have its occasions.

#include "tests/mutants/mutations.hpp"

#include "synth/synthesize.hpp"
#include "tests/oracle/second_checker.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>

using namespace tutti;
using namespace tutti::test;

namespace {

/// A schedule to break, if there is one. What a synthesizer does wrong is for tests/properties to say.
std::optional<Schedule> healthy_schedule(const Instance& instance, std::uint64_t seed) {
    try {
        synth::Request request;
        request.method = "greedy";
        request.seed = seed;
        const Schedule schedule = synth::synthesize(instance, request).schedule;
        if (oracle::second_check(instance, schedule).valid()) return schedule;
    } catch (const InfeasibleError&) {
    } catch (const InternalError&) {
    }
    return std::nullopt;
}

struct Tally {
    std::uint64_t made = 0, broken = 0, named = 0;
};

/// Tries one mutation on one valid schedule.
void try_mutation(const mutants::Mutation& mutation, const Instance& instance, const Schedule& healthy,
                  Rng& rng, Tally& tally) {
    auto mutant = mutation.apply(instance, healthy, rng);
    if (!mutant) return;
    ++tally.made;
    // A makespan that no longer fits would give every mutant away.
    if (!mutation.about_makespan) mutant->makespan = oracle::second_check(instance, *mutant).makespan;
    const Opinions opinions = opinions_on(instance, *mutant);
    const auto context = [&] {
        return std::string(mutation.name) + ": " + opinions.text() + "\n" + text_of(instance, *mutant) +
               json_of(instance);
    };
    CHECK_MESSAGE(opinions.agree(), context());
    if (opinions.second.empty()) {
        CHECK_MESSAGE(!mutation.always, context());
        return;
    }
    ++tally.broken;
    const bool named = std::ranges::any_of(
        mutation.rules, [&](Rule rule) { return opinions.verifier.contains(std::string(code_of(rule))); });
    if (named) ++tally.named;
    if (mutation.always) CHECK_MESSAGE(named, context());
}

}  // namespace

TEST_CASE("a schedule broken in one way is refused for that reason") {
    std::map<std::string_view, Tally> tallies;
    const std::uint64_t count = cases(600);
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const Instance instance(random_instance(rng));
        const auto healthy = healthy_schedule(instance, seed);
        if (!healthy) return;
        for (const auto& mutation : mutants::catalogue()) {
            for (int i = 0; i < 3; ++i)
                try_mutation(mutation, instance, *healthy, rng, tallies[mutation.name]);
        }
    });
    for (const auto& mutation : mutants::catalogue()) {
        const Tally& tally = tallies[mutation.name];
        const std::string text = std::string(mutation.name) + ": " + std::to_string(tally.made) + " made, " +
                                 std::to_string(tally.broken) + " broken, " + std::to_string(tally.named) +
                                 " named";
        if (count >= 600) CHECK_MESSAGE(tally.named >= 10, text);
    }
}
