// V9, V10, V11: switches that store, forward, copy and reduce.

#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

using Codes = std::set<std::string>;

const SwitchRule kPlain{};
const SwitchRule kCopies{.copy = true, .reduce = false, .cut_through = false, .buffer = {}};
const SwitchRule kReduces{.copy = false, .reduce = true, .cut_through = false, .buffer = {}};

SwitchRule buffered(std::uint32_t places, bool copies = false) {
    return {.copy = copies, .reduce = false, .cut_through = false, .buffer = places};
}

/// On a star, link 2i goes from NPU i to the switch and link 2i+1 back.
Instance broadcast_on_star(std::uint32_t npus, const SwitchRule& rule) {
    return on_all(star(npus, rule), {collective(CollectiveKind::Broadcast)});
}

/// Chunks 0, 1, … go from NPU 0 to NPU 1.
Instance chunks_over_star(std::size_t chunks, const SwitchRule& rule) {
    Collective all = custom({0}, {1});
    while (all.demands.size() < chunks) all.demands.push_back(all.demands.front());
    return on_all(star(2, rule), {all});
}

}  // namespace

TEST_CASE("V9: a plain switch forwards each copy once") {
    const Instance instance = broadcast_on_star(3, kPlain);
    CHECK(broken(instance, schedule(3, {copy(0, 0, 0), copy(0, 0, 1), copy(0, 3, 1), copy(0, 5, 2)})) ==
          Codes{});
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 1)})) ==
          Codes{"switch_copy", "demand_unmet"});
    CHECK(broken(instance, schedule(9, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 8)})) ==
          Codes{"switch_copy", "demand_unmet"});
}

TEST_CASE("V9: a copying switch sends on as often as it likes") {
    const Instance instance = broadcast_on_star(3, kCopies);
    CHECK(broken(instance, schedule(2, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 1)})) == Codes{});
    CHECK(broken(instance, schedule(9, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 8)})) == Codes{});
}

TEST_CASE("V9: a plain switch that sent its only copy back to the source has none left") {
    // The only copy goes back to NPU 0, so there is none left for NPU 1.
    CHECK(broken(broadcast_on_star(2, kPlain), schedule(3, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 3, 2)})) ==
          Codes{"switch_copy", "demand_unmet"});
}

TEST_CASE("V6: a switch that has not yet got a chunk cannot forward it, even if it copies") {
    for (const SwitchRule& rule : {kPlain, kCopies}) {
        const Instance instance = on_all(star(2, rule, 0, 2), {custom({0}, {1})});
        CHECK(broken(instance, schedule(3, {copy(0, 0, 0), copy(0, 3, 1)})) ==
              Codes{"not_held", "demand_unmet"});
        CHECK(broken(instance, schedule(4, {copy(0, 0, 0), copy(0, 3, 2)})) == Codes{});
    }
}

TEST_CASE("the copies of one chunk leave a switch in order of arrival") {
    // The contributions of 0 and 1 pass the switch one after the other; NPU 2 needs 0's, NPU 3 both.
    Collective sum = custom({0, 1}, {3}, true);
    const Instance instance = on_all(star(4, kPlain), {sum});
    const std::vector<Send> in{copy(0, 0, 0), copy(0, 2, 1)};
    auto plan = schedule(4, in);
    plan.sends.insert(plan.sends.end(), {copy(0, 5, 2), reduce(0, 7, 3)});
    CHECK(broken(instance, plan) == Codes{"demand_wrong"});
    // The first to leave is 0's: NPU 2 sends it back to the switch, and NPU 3 gets 1's, then 0's.
    plan.sends.insert(plan.sends.end(), {copy(0, 4, 3), reduce(0, 7, 4)});
    plan.makespan = Ticks(5);
    CHECK(broken(instance, plan) == Codes{});
    // Were the second to leave 0's too, this would be a double count.
    plan.sends.push_back(reduce(0, 3, 5));
    plan.makespan = Ticks(6);
    CHECK(broken(instance, plan) == Codes{"switch_copy"});
}

TEST_CASE("copies that arrive at one tick queue in order of link number") {
    // NPU 1 adds what leaves first, which must be 0's contribution: its own would be a double count.
    const Instance instance = on_all(star(3, kPlain), {custom({0, 1}, {1, 2}, true)});
    const Schedule plan = schedule(
        4, {copy(0, 0, 0), copy(0, 2, 0), reduce(0, 3, 1), reduce(0, 5, 2), copy(0, 2, 2), copy(0, 5, 3)});
    CHECK(broken(instance, plan) == Codes{});
}

TEST_CASE("sends of one chunk that leave a switch at one tick take copies in order of link number") {
    const Instance instance = on_all(star(4, kPlain), {custom({0, 1}, {1, 3}, true)});
    // Links 3 (to NPU 1) and 7 (to NPU 3) leave at tick 1; link 3 takes 0's contribution, link 7 that of 1.
    const std::vector<Send> sends{copy(0, 0, 0),   copy(0, 2, 0), reduce(0, 3, 1),
                                  reduce(0, 7, 1), copy(0, 0, 1), reduce(0, 7, 2)};
    CHECK(broken(instance, schedule(3, sends)) == Codes{});
    CHECK(broken(instance, schedule(3, {sends.rbegin(), sends.rend()})) == Codes{});
}

TEST_CASE("a copying switch sends again the copy that left last") {
    // 0's contribution leaves to NPU 2, then that of 1 to NPU 3; sent again, it is that of 1.
    const Instance instance = on_all(star(4, kCopies), {custom({0, 1}, {2}, true)});
    const std::vector<Send> sends{copy(0, 0, 0), copy(0, 2, 1), copy(0, 5, 2), copy(0, 7, 3),
                                  reduce(0, 5, 4)};
    CHECK(broken(instance, schedule(5, sends)) == Codes{});
}

TEST_CASE("V10: a plain switch does not reduce") {
    const Instance instance = on_all(star(2, kPlain), {collective(CollectiveKind::Reduce)});
    CHECK(broken(instance, schedule(2, {copy(0, 2, 0), reduce(0, 1, 1)})) == Codes{});
    CHECK(broken(instance, schedule(2, {reduce(0, 2, 0), reduce(0, 1, 1)})) ==
          Codes{"switch_reduce", "not_held", "demand_wrong"});
}

TEST_CASE("a reducing switch adds what arrives to the copy that waits") {
    const Instance instance = on_all(star(3, kReduces), {collective(CollectiveKind::Reduce)});
    CHECK(broken(instance, schedule(2, {reduce(0, 2, 0), reduce(0, 4, 0), reduce(0, 1, 1)})) == Codes{});
    CHECK(broken(instance, schedule(3, {copy(0, 2, 0), reduce(0, 4, 1), reduce(0, 1, 2)})) == Codes{});
}

TEST_CASE("a reducing switch adds nothing to a copy that has left") {
    const Instance instance = on_all(star(3, kReduces), {collective(CollectiveKind::Reduce)});
    CHECK(broken(instance, schedule(3, {reduce(0, 2, 0), reduce(0, 1, 1), reduce(0, 4, 1),
                                        reduce(0, 1, 2)})) == Codes{});
    // Arrivals come before sends: what arrives at tick 1 is in what leaves at tick 1.
    CHECK(broken(instance, schedule(2, {reduce(0, 2, 0), reduce(0, 4, 0), reduce(0, 1, 1)})) == Codes{});
}

TEST_CASE("a reducing switch adds to the newest copy that waits, while the oldest leaves first") {
    // {1} and {2} wait as two copies; {3} joins {2}. The first to leave is {1}, the second {2, 3}.
    const Instance instance = on_all(star(5, kReduces), {custom({1, 2, 3}, {0, 4}, true)});
    const std::vector<Send> in{copy(0, 2, 0), copy(0, 4, 1), reduce(0, 6, 2)};
    auto plan = schedule(7, in);
    plan.sends.insert(plan.sends.end(), {copy(0, 1, 3), reduce(0, 9, 4),  // 0: {1}, 4: {2, 3}
                                         copy(0, 0, 4), reduce(0, 9, 5),  // 4: + {1}
                                         copy(0, 8, 6), copy(0, 1, 7)});  // 0: all
    plan.makespan = Ticks(8);
    CHECK(broken(instance, plan) == Codes{});
}

TEST_CASE("V13: a reducing switch counts no contribution twice") {
    const Instance instance = on_all(star(2, kReduces), {collective(CollectiveKind::Reduce)});
    CHECK(broken(instance, schedule(3, {reduce(0, 2, 0), reduce(0, 2, 1), reduce(0, 1, 2)})) ==
          Codes{"double_count"});
}

TEST_CASE("V14: a copy and a reduce must not reach a reducing switch at one tick") {
    const Instance instance = on_all(star(3, kReduces), {collective(CollectiveKind::Reduce)});
    CHECK(broken(instance, schedule(2, {copy(0, 2, 0), reduce(0, 4, 0), reduce(0, 1, 1)})) ==
          Codes{"arrival_race"});
    // Two copies at a plain switch stand in a queue instead.
    const Instance plain = on_all(star(3, kPlain), {collective(CollectiveKind::Reduce)});
    CHECK(broken(plain, schedule(3, {copy(0, 2, 0), copy(0, 4, 0), reduce(0, 1, 1), reduce(0, 1, 2)})) ==
          Codes{});
}

TEST_CASE("V11: a switch holds no more copies than its buffer") {
    const Instance one = chunks_over_star(2, buffered(1));
    CHECK(broken(one, schedule(3, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 3, 1), copy(1, 3, 2)})) == Codes{});
    // Chunk 0 waits from 1 to 3, chunk 1 from 2 to 4.
    const Schedule slow = schedule(5, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 3, 3), copy(1, 3, 4)});
    CHECK(broken(one, slow) == Codes{"buffer_overflow"});
    CHECK(broken(chunks_over_star(2, buffered(2)), slow) == Codes{});
    CHECK(broken(chunks_over_star(2, kPlain), slow) == Codes{});
}

TEST_CASE("V11: a place is free again at the tick at which its copy leaves") {
    // Chunk 0 leaves at 2, when chunk 1 arrives and stays until 3.
    CHECK(broken(chunks_over_star(2, buffered(1)),
                 schedule(4, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 3, 2), copy(1, 3, 3)})) == Codes{});
}

TEST_CASE("V11: a copy that leaves when it arrives takes no place") {
    const Instance none = chunks_over_star(1, buffered(0));
    CHECK(broken(none, schedule(2, {copy(0, 0, 0), copy(0, 3, 1)})) == Codes{});
    CHECK(broken(none, schedule(3, {copy(0, 0, 0), copy(0, 3, 2)})) == Codes{"buffer_overflow"});
}

TEST_CASE("V11: a copy that is never sent takes its place for ever") {
    CHECK(broken(chunks_over_star(1, buffered(1)),
                 schedule(9, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 0, 8)})) == Codes{});
    CHECK(broken(chunks_over_star(1, buffered(0)),
                 schedule(3, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 0, 2)})) == Codes{"buffer_overflow"});
}

TEST_CASE("V11: a copy that will be sent again is held until its last send") {
    const SwitchRule rule = buffered(1, true);
    Collective both = custom({0}, {1, 2});
    both.demands.push_back({nodes({0}), nodes({1}), false, {}});
    const Instance instance = on_all(star(3, rule), {both});
    // Chunk 0 leaves at 1 and again at 3; chunk 1 arrives at 2 and waits until 4: two are held at 2.
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 3), copy(1, 0, 1),
                                        copy(1, 3, 4)})) == Codes{"buffer_overflow"});
    CHECK(broken(instance, schedule(4, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 2), copy(1, 0, 1),
                                        copy(1, 3, 3)})) == Codes{});
}

TEST_CASE("V11: two copies of one chunk take two places") {
    const Instance instance = on_all(star(3, buffered(1)), {collective(CollectiveKind::Broadcast)});
    CHECK(broken(instance, schedule(4, {copy(0, 0, 0), copy(0, 0, 1), copy(0, 3, 3), copy(0, 5, 3)})) ==
          Codes{"buffer_overflow"});
}

TEST_CASE("V11: contributions added to one copy take one place") {
    SwitchRule rule = kReduces;
    rule.buffer = 1;
    const Instance instance = on_all(star(3, rule), {collective(CollectiveKind::Reduce)});
    CHECK(broken(instance, schedule(4, {reduce(0, 2, 0), reduce(0, 4, 1), reduce(0, 1, 3)})) == Codes{});
    CHECK(broken(instance, schedule(4, {copy(0, 2, 0), copy(0, 4, 1), reduce(0, 1, 2), reduce(0, 1, 3)})) ==
          Codes{});
    CHECK(broken(instance, schedule(5, {copy(0, 2, 0), copy(0, 4, 1), reduce(0, 1, 3), reduce(0, 1, 4)})) ==
          Codes{"buffer_overflow"});
}
