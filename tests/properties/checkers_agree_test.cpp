// The verifier and the second checker on schedules that no synthesizer made: the same rules broken, the same
// makespan, whatever the order in which the sends are listed.

#include "tests/oracle/second_checker.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/random_schedule.hpp"

#include <doctest/doctest.h>

#include <map>
#include <stdexcept>

using namespace tutti;
using namespace tutti::test;

namespace {

/// How often each rule was the only one broken; "valid" where none was.
using Tally = std::map<std::string, std::uint64_t>;

[[noreturn]] void show_difference(InstanceParts parts, const Schedule& schedule) {
    const Instance instance(parts);
    Schedule small = shrunk(
        schedule, [&](const Schedule& candidate) { return !opinions_on(instance, candidate).agree(); });
    Schedule smaller = small;
    drop_unused_links(parts, smaller);
    const Instance reduced(parts);
    if (!opinions_on(reduced, smaller).agree()) {
        FAIL("the checkers differ: " << opinions_on(reduced, smaller).text() << "\n"
                                     << text_of(reduced, smaller) << json_of(reduced));
    }
    FAIL("the checkers differ: " << opinions_on(instance, small).text() << "\n"
                                 << text_of(instance, small) << json_of(instance));
    throw std::logic_error("not reached");
}

/// Fails the test with a small example if the two do not agree.
void agree_on(const InstanceParts& parts, Schedule schedule, Rng& rng, Tally& tally) {
    const Instance instance(parts);
    if (rng.below(20) != 0) schedule.makespan = oracle::second_check(instance, schedule).makespan;
    const Opinions opinions = opinions_on(instance, schedule);
    if (!opinions.agree()) show_difference(parts, schedule);
    Schedule reordered = schedule;
    rng.shuffle(reordered.sends);
    const Opinions again = opinions_on(instance, reordered);
    CHECK_MESSAGE(
        (again.agree() && again.second == opinions.second &&
         again.second_makespan == opinions.second_makespan),
        "another order of sends, another verdict: " << opinions.text() << " then " << again.text() << "\n"
                                                    << text_of(instance, reordered) << json_of(instance));
    if (opinions.second.empty()) ++tally["valid"];
    if (opinions.second.size() == 1) ++tally[*opinions.second.begin()];
}

/// A tally in which some rule is missing would mean that nothing was compared there.
void check_seen(const Tally& tally, std::uint64_t count, std::initializer_list<const char*> names) {
    for (const std::string name : names) {
        const auto found = tally.find(name);
        const std::uint64_t seen = found == tally.end() ? 0 : found->second;
        CHECK_MESSAGE((count < 20000 || seen >= 1), name << " was seen alone " << seen << " times");
    }
}

}  // namespace

TEST_CASE("the checkers agree on random sends") {
    const InstanceOptions options{
        .max_npus = 3, .max_switches = 2, .max_collectives = 2, .max_chunks = 1, .max_ticks = 2};
    const std::uint64_t count = cases(20000);
    Tally tally;
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const InstanceParts parts = random_instance(rng, options);
        const Instance instance(parts);
        const std::int64_t horizon = instance.topology().units() == Units::Physical ? 4000 : 8;
        agree_on(parts, random_sends(instance, rng, 1 + rng.below(8), horizon), rng, tally);
    });
    check_seen(tally, count,
               {"valid", "unknown_chunk", "unknown_link", "bad_start", "not_held", "demand_unmet"});
}

TEST_CASE("the checkers agree on chunks that move at random") {
    const InstanceOptions options{
        .max_npus = 4, .max_switches = 3, .max_collectives = 2, .max_chunks = 1, .max_ticks = 3};
    const std::uint64_t count = cases(40000);
    Tally tally;
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const InstanceParts parts = random_instance(rng, options);
        agree_on(parts, random_walk(Instance(parts), rng, 1 + rng.below(12)), rng, tally);
    });
    check_seen(tally, count,
               {"valid", "link_overlap", "not_held", "before_release", "relay_forbidden", "switch_copy",
                "switch_reduce", "buffer_overflow", "cut_through", "double_count", "arrival_race",
                "demand_unmet", "demand_wrong", "makespan_mismatch"});
}
