// What bounds owe on any instance: none is above the makespan of a schedule that the verifier accepts.

#include "bounds/bounds.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/oracle_data.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace tutti;
using namespace tutti::test;

namespace {

/// What is wrong with the bounds; empty if nothing is.
std::string fault_on(const Instance& instance, std::uint64_t seed) {
    if (!is_feasible(instance)) return {};
    synth::Request request;
    request.method = "greedy";
    request.seed = seed;
    Ticks makespan;
    try {
        makespan = synth::synthesize(instance, request).schedule.makespan;
    } catch (const InternalError& error) {
        return error.what();  // a wrong schedule is shrunk too
    }
    Ticks last = Ticks::max();
    for (const Bound& bound : bounds::all_bounds(instance)) {
        if (bound.value > makespan) {
            return fmt::format("the {} bound is {}, but a schedule of makespan {} exists", bound.kind,
                               bound.value.count(), makespan.count());
        }
        if (bound.value > last) return "the bounds are not sorted";
        if (bound.value > Ticks(0) && std::holds_alternative<std::monostate>(bound.certificate)) {
            return fmt::format("the {} bound has no certificate", bound.kind);
        }
        last = bound.value;
    }
    return {};
}

void check(const InstanceParts& parts, std::uint64_t seed) {
    if (fault_on(Instance(parts), seed).empty()) return;
    const Instance small(
        shrunk(parts, [&](const Instance& candidate) { return !fault_on(candidate, seed).empty(); }));
    FAIL(fault_on(small, seed) << "\n" << json_of(small));
}

}  // namespace

TEST_CASE("no bound is above a verified makespan") {
    for_seeds(cases(500), [](Rng& rng, std::uint64_t seed) { check(random_instance(rng), seed); });
}

TEST_CASE("no bound is above a verified makespan on networks with many switches") {
    const InstanceOptions options{.max_npus = 4, .max_switches = 6, .max_collectives = 2};
    for_seeds(cases(600), [&](Rng& rng, std::uint64_t seed) { check(random_instance(rng, options), seed); });
}

TEST_CASE("no bound is above a verified makespan on networks too large to try every cut") {
    const InstanceOptions options{.max_npus = 24, .max_switches = 6, .max_collectives = 3, .max_chunks = 3};
    for_seeds(cases(100), [&](Rng& rng, std::uint64_t seed) { check(random_instance(rng, options), seed); });
}

TEST_CASE("no bound is above a verified makespan where a few chunks travel a short distance") {
    // Small instances are those that greedy solves best, so that a bound that is too large by one tick shows.
    const InstanceOptions options{
        .max_npus = 4, .max_switches = 2, .max_collectives = 1, .max_chunks = 2, .max_ticks = 3};
    for_seeds(cases(1000), [&](Rng& rng, std::uint64_t seed) { check(random_instance(rng, options), seed); });
}

TEST_CASE("no bound is above a proven optimum, and most are equal to it") {
    std::size_t tight = 0;
    const auto optima = proven_optima();
    for (const auto& [instance, optimum, seconds_of_others] : optima) {
        const auto bounds = bounds::all_bounds(instance);
        for (const Bound& bound : bounds) {
            INFO(instance.name(), ": ", bound.kind);
            CHECK(bound.value <= optimum);
        }
        if (bounds.front().value == optimum) ++tight;
    }
    CHECK(optima.size() == 118);
    CHECK(tight >= 112);
}
