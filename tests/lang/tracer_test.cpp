#include "lang/tracer.hpp"

#include "core/error.hpp"
#include "lang/contributions.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::lang;

namespace {

Trace program(CollectiveKind kind, std::uint32_t ranks, std::uint32_t chunks, bool in_place = false) {
    Trace trace;
    trace.name = "p";
    trace.shape = {.kind = kind, .ranks = ranks, .chunks = chunks, .in_place = in_place};
    if (has_root(kind)) trace.shape.root = Rank(0);
    return trace;
}

Slot input(std::uint32_t rank, std::uint32_t index) { return {rank, kInput, index}; }
Slot output(std::uint32_t rank, std::uint32_t index) { return {rank, kOutput, index}; }

/// What is said where the work is refused.
template <class Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("an all-reduce of two ranks ends with both sums, and says so") {
    Tracer tracer(program(CollectiveKind::AllReduce, 2, 1, true));
    tracer.reduce(input(0, 0), input(1, 0), 1);
    CHECK(tracer.first_wrong().has_value());
    tracer.copy(input(1, 0), output(0, 0), 1);  // in place: the input
    CHECK_FALSE(tracer.first_wrong().has_value());
    CHECK(tracer.trace().verbs[1].to == input(0, 0));
    CHECK(tracer.version(input(0, 0)) == 1);
}

TEST_CASE("verbs that cannot be meant are refused at the program's line") {
    Tracer tracer(program(CollectiveKind::AllGather, 2, 2));
    const std::uint32_t line = tracer.place("ring.py", 12);
    CHECK(tracer.place("ring.py", 12) == line);
    CHECK(refusal([&] { tracer.copy(input(0, 1), output(1, 4), 1, {}, line); }) ==
          "at ring.py:12: output[4] of rank 1 is outside of the buffer, which has 4 chunks");
    CHECK(refusal([&] { tracer.copy(input(0, 1), input(1, 1), 2, {}, line); }).find("outside") !=
          std::string::npos);
    CHECK(refusal([&] { tracer.copy(input(0, 0), output(2, 0), 1, {}, line); }) ==
          "at ring.py:12: there is no rank 2; the program has 2");
    CHECK(refusal([&] { tracer.copy(output(0, 0), output(1, 0), 1, {}, line); }) ==
          "at ring.py:12: output[0] of rank 0 holds nothing");
    CHECK(refusal([&] { tracer.reduce(input(0, 0), output(1, 0), 1, {}, line); }) ==
          "at ring.py:12: output[0] of rank 1 holds nothing that could be added to");
    tracer.copy(input(0, 0), output(0, 0), 2);
    CHECK(refusal([&] { tracer.copy(output(0, 0), output(0, 1), 2, {}, line); }) ==
          "at ring.py:12: output[1] of rank 0 overlaps what it is copied from");
    CHECK(tracer.trace().verbs.size() == 1);
}

TEST_CASE("a verb that is refused changes nothing") {
    Tracer tracer(program(CollectiveKind::AllGather, 2, 2));
    tracer.copy(input(0, 0), output(0, 0), 1);
    CHECK(refusal([&] { tracer.copy(output(0, 0), output(1, 0), 2); }) ==
          "output[1] of rank 0 holds nothing");
    CHECK_FALSE(tracer.holds(output(1, 0)));
    CHECK(tracer.trace().verbs.size() == 1);
}

TEST_CASE("a copy onto itself is nothing") {
    Tracer tracer(program(CollectiveKind::AllReduce, 2, 1, true));
    tracer.copy(input(0, 0), output(0, 0), 1);
    CHECK(tracer.trace().verbs.empty());
}

TEST_CASE("scratch grows as it is written") {
    Tracer tracer(program(CollectiveKind::AllReduce, 2, 2));
    const std::uint32_t a = tracer.scratch_buffer("a");
    CHECK(tracer.scratch_buffer("a") == a);
    CHECK(tracer.scratch_buffer("b") == a + 1);
    CHECK(tracer.size(1, a) == 0);
    tracer.copy(input(0, 0), {1, a, 3}, 2);
    CHECK(tracer.size(1, a) == 5);
    CHECK_FALSE(tracer.holds({1, a, 2}));
    CHECK(tracer.holds({1, a, 4}));
}

TEST_CASE("what is wrong with a place is told: missing, too much, counted twice") {
    Tracer tracer(program(CollectiveKind::AllReduce, 3, 1, true));
    CHECK(why_wrong(tracer.trace(), *tracer.first_wrong()).words ==
          "input[0] of rank 0: it lacks input[0] of rank 1, input[0] of rank 2");
    const std::uint32_t line = tracer.place("p.py", 4);
    tracer.reduce(input(1, 0), input(0, 0), 1);
    tracer.copy(input(0, 0), input(2, 0), 1);
    tracer.reduce(input(2, 0), input(0, 0), 1, {}, line);
    CHECK(why_wrong(tracer.trace(), *tracer.first_wrong()).words ==
          "input[0] of rank 0: input[0] of rank 0 is counted twice, since p.py:4");

    Tracer other(program(CollectiveKind::AllToAll, 2, 1));
    other.copy(input(1, 1), output(0, 0), 1);
    CHECK(why_wrong(other.trace(), *other.first_wrong()).words ==
          "output[0] of rank 0: it lacks input[0] of rank 0, and holds input[1] of rank 1 instead");
}

TEST_CASE("every collective wants what the contract says") {
    // By kind: rank, output, the contributions that it must hold.
    struct Case {
        CollectiveKind kind;
        std::uint32_t rank, index;
        std::vector<plan::Contribution> wanted;
    };
    const auto of = [](std::size_t rank, std::int64_t chunk) {
        return plan::Contribution{Rank(rank), chunk};
    };
    const std::vector<Case> cases{
        {CollectiveKind::AllReduce, 1, 1, {of(0, 1), of(1, 1), of(2, 1)}},
        {CollectiveKind::ReduceScatter, 2, 1, {of(0, 5), of(1, 5), of(2, 5)}},
        {CollectiveKind::AllGather, 1, 5, {of(2, 1)}},
        {CollectiveKind::AllToAll, 1, 5, {of(2, 3)}},
        {CollectiveKind::Broadcast, 2, 1, {of(0, 1)}},
        {CollectiveKind::Scatter, 2, 1, {of(0, 5)}},
        {CollectiveKind::Gather, 0, 5, {of(2, 1)}},
        {CollectiveKind::Reduce, 0, 1, {of(0, 1), of(1, 1), of(2, 1)}},
        {CollectiveKind::AllToNext, 2, 1, {of(1, 1)}},
    };
    for (const Case& one : cases) {
        CAPTURE(name_of(one.kind));
        const Shape shape = program(one.kind, 3, 2).shape;
        bool found = false;
        for (const Wanted& wanted : wanted_values(shape, one.rank)) {
            if (wanted.slot != output(one.rank, one.index)) continue;
            CHECK(contributions(shape, wanted) == one.wanted);
            found = true;
        }
        CHECK(found);
    }
}

TEST_CASE("in place, two names of a place are one") {
    const auto resolve = [](CollectiveKind kind, Slot slot) {
        return resolved(program(kind, 3, 2, true).shape, slot);
    };
    CHECK(resolve(CollectiveKind::AllReduce, output(1, 1)) == input(1, 1));
    CHECK(resolve(CollectiveKind::AllToAll, output(1, 4)) == input(1, 4));
    CHECK(resolve(CollectiveKind::AllGather, input(1, 1)) == output(1, 3));
    CHECK(resolve(CollectiveKind::ReduceScatter, output(1, 1)) == input(1, 3));
    CHECK(resolve(CollectiveKind::Gather, input(1, 1)) == input(1, 1));   // not at the root
    CHECK(resolve(CollectiveKind::Gather, input(0, 1)) == output(0, 1));  // at the root
    CHECK(resolve(CollectiveKind::AllGather, {1, kFirstScratch, 0}) == Slot{1, kFirstScratch, 0});
}

TEST_CASE("shapes that make no sense are refused") {
    CHECK(refusal([] { (void)Tracer(program(CollectiveKind::AllReduce, 0, 1)); }).find("ranks") !=
          std::string::npos);
    Trace rootless = program(CollectiveKind::Broadcast, 2, 1);
    rootless.shape.root.reset();
    CHECK(refusal([&] { (void)Tracer(rootless); }) == "broadcast needs a root");
    rootless.shape.root = Rank(2);
    CHECK(refusal([&] { (void)Tracer(rootless); }) == "the root 2 is none of 2 ranks");
    CHECK(refusal([] { (void)Tracer(program(CollectiveKind::Permute, 2, 1)); }).find("custom") !=
          std::string::npos);
}

TEST_CASE("a custom collective wants what its trace ends with") {
    Trace trace = program(CollectiveKind::Custom, 2, 1);
    trace.shape.custom_inputs = 2;
    trace.shape.custom_outputs = 1;
    trace.shape.initial = {{input(0, 0), {Rank(0), 0}}, {input(0, 1), {Rank(0), 1}}};
    Tracer tracer(trace);
    tracer.copy(input(0, 0), output(1, 0), 1);
    tracer.reduce(input(0, 1), output(1, 0), 1);
    const plan::Condition condition = condition_of(tracer.trace());
    CHECK(condition.inputs.at(Rank(0)) == std::vector<std::int64_t>{0, 1});
    CHECK(condition.inputs.at(Rank(1)).empty());
    CHECK(condition.outputs.at(Rank(1)).at(0) == std::vector<plan::Contribution>{{Rank(0), 0}, {Rank(0), 1}});
    CHECK_FALSE(condition.outputs.contains(Rank(0)));
    CHECK_FALSE(counted_twice(tracer.trace()).has_value());
    tracer.reduce(input(0, 1), output(1, 0), 1, {}, tracer.place("p.py", 8));
    REQUIRE(counted_twice(tracer.trace()).has_value());
    CHECK(counted_twice(tracer.trace())->place == "p.py:8");
    CHECK(condition_of(tracer.trace()).outputs.empty());
}

TEST_CASE("the condition of an all-to-next names the inputs that are there at first") {
    Tracer tracer(program(CollectiveKind::AllToNext, 2, 2));
    tracer.copy(input(0, 0), output(1, 0), 2);
    const plan::Condition condition = condition_of(tracer.trace());
    CHECK(condition.inputs.at(Rank(0)) == std::vector<std::int64_t>{0, 1});
    CHECK(condition.outputs.at(Rank(1)).at(1) == std::vector<plan::Contribution>{{Rank(0), 1}});
}

TEST_CASE("a plan knows the inputs of a custom collective by their places, whatever the program calls them") {
    Trace trace = program(CollectiveKind::Custom, 2, 1);
    trace.shape.custom_inputs = trace.shape.custom_outputs = 1;
    trace.shape.initial = {{input(0, 0), {Rank(1), 7}}, {output(1, 0), {Rank(0), 3}}};
    Tracer tracer(trace);
    CHECK(condition_of(tracer.trace()).outputs.empty());  // nothing was done to output[0] of rank 1
    tracer.copy(input(0, 0), output(0, 0), 1);
    CHECK(condition_of(tracer.trace()).outputs.at(Rank(0)).at(0) ==
          std::vector<plan::Contribution>{{Rank(0), 0}});
    tracer.reduce(output(1, 0), output(0, 0), 1);
    CHECK(refusal([&] { (void)condition_of(tracer.trace()); }) ==
          "output[0] of rank 0 depends on what output[0] of rank 1 holds at first; plans begin with inputs "
          "only");
}

TEST_CASE("scratch that holds something at first is refused") {
    Trace trace = program(CollectiveKind::Custom, 2, 1);
    trace.shape.custom_inputs = trace.shape.custom_outputs = 1;
    trace.scratch = {"scratch"};
    trace.shape.initial = {{{0, kFirstScratch, 5}, {Rank(0), 0}}};
    CHECK(refusal([&] { (void)Tracer(trace); }) == "scratch buffers hold nothing at first");
}

TEST_CASE("in place, a place is inside of the buffer by which it is called") {
    // Input 2 of rank 0 would lie in the output of rank 1's share.
    Tracer tracer(program(CollectiveKind::AllGather, 2, 2, true));
    CHECK(refusal([&] { tracer.copy(input(0, 1), input(1, 1), 2); }) ==
          "input[2] of rank 0 is outside of the buffer, which has 2 chunks");
    CHECK(refusal([&] { tracer.copy(input(0, 4294967295), input(1, 0), 1); }) ==
          "input[4294967295] of rank 0 is outside of the buffer, which has 2 chunks");
    Trace custom = program(CollectiveKind::Custom, 2, 1, true);
    custom.shape.custom_inputs = 1;
    custom.shape.custom_outputs = 2;
    CHECK(refusal([&] { (void)Tracer(custom); }) ==
          "in place the buffers of a custom collective are one; found 1 inputs, 2 outputs");
}

TEST_CASE("only the root has the output of a gather and the input of a scatter") {
    Tracer gather(program(CollectiveKind::Gather, 2, 1));
    CHECK(refusal([&] { gather.copy(input(0, 0), output(1, 0), 1); }) ==
          "output[0] of rank 1 is outside of the buffer, which has 0 chunks");
    Tracer scatter(program(CollectiveKind::Scatter, 2, 1));
    CHECK(refusal([&] { scatter.copy(input(0, 0), input(1, 0), 1); }) ==
          "input[0] of rank 1 is outside of the buffer, which has 0 chunks");
}
