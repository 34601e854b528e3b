// What the compiler from programs does pass by pass: dumps, limits of the targets, and the shapes that other
// compilers get wrong.

#include "compile/excess.hpp"
#include "compile/trace_lowering.hpp"
#include "core/error.hpp"
#include "lang/library.hpp"
#include "lang/tracer.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace {

using namespace tutti;
using namespace tutti::compile;
using lang::kInput;
using lang::Slot;
using lang::Tracer;

plan::PlanVerdict verdict_on(const TraceResult& result, std::optional<plan::Target> target = {}) {
    verify::PlanReading reading;
    reading.root = result.root;
    reading.condition = result.condition;
    reading.strict_dependencies = true;
    reading.target = target;
    return verify::verify(result.plan, reading);
}
plan::PlanClass class_of(const TraceResult& result) { return verdict_on(result).verdict; }

lang::Trace library_program(const char* name, CollectiveKind kind, std::uint32_t ranks,
                            std::map<std::string, std::int64_t> parameters = {}) {
    return lang::program_of(lang::algorithm_named(name),
                            {.kind = kind, .ranks = ranks, .parameters = std::move(parameters)});
}

std::string dump_of(const lang::Trace& trace, Pass pass, bool dot = false) {
    const TraceResult result = compile_trace(trace, {.dump_after = pass, .dot = dot}, class_of);
    REQUIRE(result.dump.has_value());
    return result.dump->text;
}

/// Rank 0 sends to rank 1, which sends on to rank 2.
lang::Trace chain() {
    lang::Trace head;
    head.name = "chain";
    head.shape = {
        .kind = CollectiveKind::Broadcast, .ranks = 3, .chunks = 1, .in_place = true, .root = Rank(0)};
    Tracer tracer(head);
    tracer.copy({0, kInput, 0}, {1, kInput, 0}, 1, {}, tracer.place("chain.py", 4));
    tracer.copy({1, kInput, 0}, {2, kInput, 0}, 1, {}, tracer.place("chain.py", 5));
    return tracer.trace();
}

/// An all-reduce around a ring; every rank does 2 (n - 1) steps for its neighbours.
lang::Trace ring_without_channels(std::uint32_t n) {
    lang::Trace head;
    head.shape = {.kind = CollectiveKind::AllReduce, .ranks = n, .chunks = n, .in_place = true};
    Tracer tracer(head);
    for (std::uint32_t c = 0; c < n; ++c) {
        const auto at = [&](std::uint32_t s) { return Slot{(c + s) % n, kInput, c}; };
        for (std::uint32_t s = 0; s + 1 < n; ++s) tracer.reduce(at(s), at(s + 1), 1);
        for (std::uint32_t s = n - 1; s + 2 < 2 * n; ++s) tracer.copy(at(s), at(s + 1), 1);
    }
    return tracer.trace();
}

}  // namespace

TEST_CASE("after each pass there is what was known before, and what it decided") {
    const lang::Trace trace = chain();
    CHECK(dump_of(trace, Pass::Clock) ==
          "4 instructions of 3 ranks\n"
          "0: rank 0 sends i[0] to 1, level 0 height 3  @chain.py:4\n"
          "1: rank 1 receives i[0] from 0, level 1 height 2, after 0  @chain.py:4\n"
          "2: rank 1 sends i[0] to 2, level 2 height 1, after 1  @chain.py:5\n"
          "3: rank 2 receives i[0] from 1, level 3 height 0, after 2  @chain.py:5\n");
    CHECK(dump_of(trace, Pass::Lanes) ==
          "4 instructions of 3 ranks\n"
          "lane 0: rank 0 to 1, 1 messages, goes on as lane 1\n"
          "lane 1: rank 1 to 2, 1 messages\n"
          "0: rank 0 sends i[0] to 1, level 0 height 3, lane 0  @chain.py:4\n"
          "1: rank 1 receives i[0] from 0, level 1 height 2, lane 0, one step with 2, after 0  @chain.py:4\n"
          "2: rank 1 sends i[0] to 2, level 2 height 1, lane 1, after 1  @chain.py:5\n"
          "3: rank 2 receives i[0] from 1, level 3 height 0, lane 1, after 2  @chain.py:5\n");
    const std::string channels = dump_of(trace, Pass::Channels);
    CHECK(channels.find("lane 1: rank 1 to 2, 1 messages, channel 0\n") != std::string::npos);
    CHECK(channels.find("block 0: rank 1, receives on lane 0, sends on lane 1\n") != std::string::npos);
}

TEST_CASE("dumps of plans are plans, and graphs have a node for each instruction or step") {
    lang::Trace trace = library_program("ring", CollectiveKind::AllReduce, 3);
    trace.instances = 2;
    const TraceResult once = compile_trace(trace, {.dump_after = Pass::Steps}, class_of);
    const TraceResult twice = compile_trace(trace, {.dump_after = Pass::Replicate}, class_of);
    REQUIRE(once.dump->plan.has_value());
    REQUIRE(twice.dump->plan.has_value());
    CHECK(twice.dump->plan->channels == 2 * once.dump->plan->channels);
    CHECK(steps_of(*twice.dump->plan) == steps_of(twice.plan));

    const auto nodes = [](const std::string& dot) {
        std::size_t count = 0;
        for (std::size_t at = dot.find("[label="); at != dot.npos; at = dot.find("[label=", at + 1)) ++count;
        return count;
    };
    CHECK(nodes(dump_of(trace, Pass::Steps, true)) == steps_of(*once.dump->plan));
    // Two instructions for each of the 12 verbs.
    for (const Pass pass : {Pass::Trace, Pass::Clock, Pass::Order, Pass::Channels}) {
        CHECK(nodes(dump_of(trace, pass, true)) == 24);
        CHECK(dump_of(trace, pass, true) == dump_of(trace, pass, true));
    }
}

TEST_CASE("execution plans go through the same passes up to the order") {
    const lang::Trace trace = library_program("ring", CollectiveKind::AllReduce, 3);
    const auto made = [&](const TraceOptions& options) {
        return compile_trace_to_execution(trace, options,
                                          [](const TraceExecution&) { return plan::PlanClass::Valid; });
    };
    for (const bool dot : {false, true}) {
        const TraceExecution shown = made({.dump_after = Pass::Blocks, .dot = dot});
        REQUIRE(shown.dump.has_value());
        CHECK(shown.dump->text == dump_of(trace, Pass::Blocks, dot));
        CHECK(shown.plan == made({}).plan);
    }
    CHECK_FALSE(made({.dump_after = Pass::Steps}).dump.has_value());
}

TEST_CASE("the passes have names in their order, and none changes the plan by being shown") {
    const lang::Trace trace = library_program("halving-doubling", CollectiveKind::AllReduce, 4);
    const std::size_t steps = steps_of(compile_trace(trace, {}, class_of).plan);
    for (std::size_t p = 0; p < pass_names().size(); ++p) {
        const auto pass = static_cast<Pass>(p);
        CHECK(steps_of(compile_trace(trace, {.dump_after = pass}, class_of).plan) == steps);
    }
    CHECK(pass_names().front() == "trace");
    CHECK(pass_names().back() == "replicate");
}

TEST_CASE("connections are split, and channels filled, until the limits of a target are kept") {
    const auto keeps = [](const lang::Trace& trace, plan::Target target) {
        const TraceResult result = compile_trace(trace, {.target = target}, class_of);
        CHECK_FALSE(excess_of(result.plan, limits_of(target)).has_value());
        const plan::PlanVerdict verdict = verdict_on(result, target);
        CHECK((verdict.verdict == plan::PlanClass::Valid ||
               verdict.verdict == plan::PlanClass::ValidIfBuffered));
        for (const auto& warning : verdict.warnings) CHECK_FALSE(warning.code.starts_with("limit"));
        return result;
    };
    const lang::Trace ring = ring_without_channels(40);
    const TraceResult free = compile_trace(ring, {}, class_of);
    REQUIRE(excess_of(free.plan, limits_of(plan::Target::MscclExecutor)).has_value());
    CHECK(keeps(ring, plan::Target::MscclExecutor).plan.channels > free.plan.channels);
    CHECK(keeps(ring, plan::Target::Msccl).plan.channels == free.plan.channels);
    // The library's ring wants its channel, which has one connection between two ranks.
    CHECK_THROWS_WITH_AS(
        (void)compile_trace(library_program("ring", CollectiveKind::AllReduce, 40),
                            {.target = plan::Target::MscclExecutor}, class_of),
        "the plan needs 78 steps of a thread block on rank 0; msccl-executor has room for 64 "
        "(--target msccl takes longer thread blocks)",
        InputError);
    // 38 thread blocks of each rank do not fit on one channel.
    const lang::Trace exchange = library_program("direct-all-to-all", CollectiveKind::AllToAll, 20);
    CHECK(compile_trace(exchange, {}, class_of).plan.channels == 1);
    CHECK(keeps(exchange, plan::Target::MscclExecutor).plan.channels == 2);
}

TEST_CASE("connections share thread blocks where a target has too few") {
    // 78 connections of each rank, in thread blocks that both send and receive.
    const lang::Trace exchange = library_program("direct-all-to-all", CollectiveKind::AllToAll, 40);
    REQUIRE(excess_of(compile_trace(exchange, {}, class_of).plan, limits_of(plan::Target::Rccl)));
    const TraceResult packed = compile_trace(exchange, {.target = plan::Target::Rccl}, class_of);
    CHECK_FALSE(excess_of(packed.plan, limits_of(plan::Target::Rccl)));
    CHECK(verdict_on(packed, plan::Target::Rccl).verdict == plan::PlanClass::Valid);
}

TEST_CASE("a limit that cannot be kept is refused with both numbers") {
    const lang::Trace exchange = library_program("direct-all-to-all", CollectiveKind::AllToAll, 70);
    CHECK_THROWS_WITH_AS(
        (void)compile_trace(exchange, {.target = plan::Target::Rccl}, class_of),
        "the plan needs 69 thread blocks on rank 0; rccl has room for 64 (--target msccl takes "
        "longer thread blocks)",
        InputError);
    lang::Trace ring = library_program("ring", CollectiveKind::AllReduce, 4);
    ring.instances = 40;
    CHECK_THROWS_WITH_AS((void)compile_trace(ring, {.target = plan::Target::Msccl}, class_of),
                         "the plan needs 40 channels on rank 0; msccl has room for 32", InputError);
}

TEST_CASE("ladders of diamonds take no longer than their verbs") {
    // 200 levels: two ranks exchange their sums; the ways through the graph double at each.
    lang::Trace head;
    head.shape = {.kind = CollectiveKind::Custom, .ranks = 2, .custom_inputs = 2, .custom_outputs = 2};
    for (std::uint32_t r = 0; r < 2; ++r) head.shape.initial.push_back({{r, kInput, 0}, {Rank(r), 0}});
    Tracer tracer(head);
    const std::uint32_t s = tracer.scratch_buffer("scratch");
    for (std::uint32_t level = 0; level < 200; ++level) {
        for (std::uint32_t r = 0; r < 2; ++r) {
            const Slot from = level == 0 ? Slot{r, kInput, 0} : Slot{r, s, 2 * (level - 1) + r};
            tracer.copy(from, {1 - r, s, 2 * level + r}, 1);
            tracer.copy(from, {r, s, 2 * level + r}, 1);
        }
    }
    tracer.copy({0, s, 399}, {0, lang::kOutput, 0}, 1);
    const TraceResult result = compile_trace(tracer.trace(), {}, class_of);
    CHECK(result.condition->outputs.at(Rank(0)).size() == 1);
    CHECK(class_of(result) == plan::PlanClass::Valid);
}
