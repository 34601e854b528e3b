// Programs to plans: what they become, and that every interleaving of every plan ends as the program does.

#include "compile/trace_lowering.hpp"

#include "compile/trace_graph.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "io/chunk_trace.hpp"
#include "lang/contributions.hpp"
#include "lang/library.hpp"
#include "lang/tracer.hpp"
#include "tests/oracle/plan_opinion.hpp"
#include "tests/support/cases.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace tutti;
using namespace tutti::compile;
using lang::kInput;
using lang::kOutput;
using lang::Slot;
using lang::Tracer;
using plan::StepType;

namespace {

lang::Trace heading(CollectiveKind kind, std::uint32_t ranks, std::uint32_t chunks, bool in_place) {
    lang::Trace trace;
    trace.name = "p";
    trace.shape = {.kind = kind, .ranks = ranks, .chunks = chunks, .in_place = in_place};
    if (has_root(kind)) trace.shape.root = Rank(0);
    return trace;
}

plan::PlanClass judged(const TraceResult& result) {
    verify::PlanReading reading;
    reading.root = result.root;
    reading.condition = result.condition;
    reading.strict_dependencies = true;
    return verify::verify(result.plan, reading).verdict;
}
plan::PlanClass executed(const TraceExecution& made) {
    verify::PlanReading reading;
    reading.condition = made.condition;
    reading.target = plan::Target::Mscclpp;
    return verify::verify(made.plan, reading).verdict;
}
std::map<plan::OperationType, int> operations_by_type(const plan::ExecutionPlan& plan) {
    std::map<plan::OperationType, int> counts;
    for_each_operation(plan, [&](const plan::Operation& op) { ++counts[op.type]; });
    return counts;
}
TraceResult compiled(const lang::Trace& trace) { return compile_trace(trace, {}, judged); }

std::map<StepType, int> steps_by_type(const plan::MscclPlan& plan) {
    std::map<StepType, int> counts;
    for (const plan::Gpu& gpu : plan.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) {
            for (const plan::Step& step : block.steps) ++counts[step.type];
        }
    }
    return counts;
}

Tracer ring(std::uint32_t n, CollectiveKind kind, bool in_place) {
    Tracer tracer(heading(kind, n, kind == CollectiveKind::AllReduce ? n : 1, in_place));
    for (std::uint32_t c = 0; c < n; ++c) {
        const auto at = [&](std::uint32_t s) { return Slot{(c + s) % n, kInput, c}; };
        // A reduce-scatter's sum ends at rank c, an all-reduce's goes round once more.
        const std::uint32_t first = kind == CollectiveKind::AllReduce ? 0 : 1;
        for (std::uint32_t s = first; s + 1 < n + first; ++s) tracer.reduce(at(s), at(s + 1), 1);
        for (std::uint32_t s = 0; kind == CollectiveKind::AllReduce && s + 1 < n; ++s) {
            tracer.copy(at(s + n - 1), at(s + n), 1);
        }
    }
    return tracer;
}

/// A random program of few ranks: any verbs that can be meant, scratch, ranges, channels.
/// Manual: verbs of up to six chunks, on a thread block for each two ranks, both ways.
Tracer random_program(Rng& rng, bool in_place, lang::BlockPolicy policy = lang::BlockPolicy::Auto) {
    const bool manual = policy == lang::BlockPolicy::Manual;
    const std::uint64_t largest = manual ? 6 : 2;
    lang::Trace trace =
        heading(CollectiveKind::Custom, static_cast<std::uint32_t>(2 + rng.below(3)), 1, in_place);
    const auto n = trace.shape.ranks;
    trace.shape.custom_inputs = trace.shape.custom_outputs =
        static_cast<std::uint32_t>(largest - 1 + rng.below(4));
    trace.protocol = rng.below(2) == 0 ? plan::Protocol::Simple : plan::Protocol::LL;
    trace.policy = policy;
    for (std::uint32_t r = 0; r < n; ++r) {
        for (std::uint32_t i = 0; i < trace.shape.custom_inputs; ++i) {
            trace.shape.initial.push_back({{r, kInput, i}, {Rank(r), i}});
        }
    }
    const std::uint32_t size = trace.shape.custom_inputs;
    Tracer tracer(std::move(trace));
    const std::uint32_t scratch = tracer.scratch_buffer("scratch");
    const auto slot = [&] {
        const std::uint64_t buffer = rng.below(3);
        return Slot{static_cast<std::uint32_t>(rng.below(n)),
                    buffer == 0   ? kInput
                    : buffer == 1 ? kOutput
                                  : scratch,
                    static_cast<std::uint32_t>(rng.below(size))};
    };
    const std::uint64_t verbs = 1 + rng.below(9);
    for (std::uint64_t tries = 0; tries < 60 && tracer.trace().verbs.size() < verbs; ++tries) {
        const Slot from = slot(), to = slot();
        const auto count = static_cast<std::uint32_t>(1 + rng.below(largest));
        lang::Directive directive{-1, -1, static_cast<std::int32_t>(rng.below(4)) - 2 > 0 ? 1 : -1};
        if (manual) {
            directive = {static_cast<std::int32_t>(to.rank), static_cast<std::int32_t>(from.rank), 0};
        }
        try {
            if (rng.below(2) == 0) {
                tracer.copy(from, to, count, directive);
            } else {
                tracer.reduce(from, to, count, directive);
            }
        } catch (const InputError&) {
        }
    }
    return tracer;
}

}  // namespace

TEST_CASE("a ring of all-reduces has its usual form: sums that are passed on are not stored") {
    const TraceResult result = compiled(ring(4, CollectiveKind::AllReduce, true).trace());
    CHECK(judged(result) == plan::PlanClass::Valid);
    const auto steps = steps_by_type(result.plan);
    // Each of four chunks: s, rrs, rrs, rrcs, rcs, rcs, r.
    CHECK(steps.at(StepType::Send) == 4);
    CHECK(steps.at(StepType::ReceiveReduceSend) == 8);
    CHECK(steps.at(StepType::ReceiveReduceCopySend) == 4);
    CHECK(steps.at(StepType::ReceiveCopySend) == 8);
    CHECK(steps.at(StepType::Receive) == 4);
    CHECK(result.plan.channels == 1);
    for (const plan::Gpu& gpu : result.plan.gpus) CHECK(gpu.blocks.size() == 1);
}

TEST_CASE("a sum that is a result, or that somebody else reads, is stored") {
    const TraceResult scattered = compiled(ring(3, CollectiveKind::ReduceScatter, true).trace());
    CHECK(judged(scattered) == plan::PlanClass::Valid);
    const auto steps = steps_by_type(scattered.plan);
    CHECK(steps.at(StepType::ReceiveReduceCopy) == 3);
    CHECK(steps.at(StepType::ReceiveReduceSend) == 3);
}

TEST_CASE("fusion can be switched off") {
    lang::Trace trace = ring(3, CollectiveKind::AllReduce, true).trace();
    trace.fusion = false;
    const TraceResult result = compiled(trace);
    CHECK(judged(result) == plan::PlanClass::Valid);
    const auto steps = steps_by_type(result.plan);
    CHECK_FALSE(steps.contains(StepType::ReceiveCopySend));
    CHECK_FALSE(steps.contains(StepType::ReceiveReduceCopySend));
}

TEST_CASE("forwarding through scratch at other offsets reads its own places") {
    // Rank 0 sends to scratch[3] of rank 1, which sends on to scratch[0] of rank 2, which copies it.
    Tracer tracer(heading(CollectiveKind::AllGather, 3, 1, false));
    const std::uint32_t s = tracer.scratch_buffer("scratch");
    for (std::uint32_t r = 0; r < 3; ++r) tracer.copy({r, kInput, 0}, {r, kOutput, r}, 1);
    for (std::uint32_t r = 0; r < 3; ++r) {
        const std::uint32_t next = (r + 1) % 3, last = (r + 2) % 3;
        tracer.copy({r, kInput, 0}, {next, s, 3}, 1);
        tracer.copy({next, s, 3}, {last, s, 0}, 1);
        tracer.copy({next, s, 3}, {next, kOutput, r}, 1);
        tracer.copy({last, s, 0}, {last, kOutput, r}, 1);
    }
    REQUIRE_FALSE(tracer.first_wrong().has_value());
    CHECK(judged(compiled(tracer.trace())) == plan::PlanClass::Valid);
}

TEST_CASE("a sum at another address of the receiver is added there") {
    Tracer tracer(heading(CollectiveKind::Reduce, 3, 2, false));
    tracer.copy({0, kInput, 0}, {0, kOutput, 0}, 2);
    const std::uint32_t s = tracer.scratch_buffer("scratch");
    tracer.copy({1, kInput, 0}, {2, s, 5}, 2);
    tracer.reduce({2, kInput, 0}, {2, s, 5}, 2);
    tracer.reduce({2, s, 5}, {0, kOutput, 0}, 2);
    REQUIRE_FALSE(tracer.first_wrong().has_value());
    CHECK(judged(compiled(tracer.trace())) == plan::PlanClass::Valid);
}

TEST_CASE("verbs of many chunks become several steps") {
    Tracer tracer(heading(CollectiveKind::Broadcast, 2, 200, true));
    tracer.copy({0, kInput, 0}, {1, kInput, 0}, 200);
    const TraceResult result = compiled(tracer.trace());
    CHECK(judged(result) == plan::PlanClass::Valid);
    CHECK(steps_by_type(result.plan).at(StepType::Send) == 3);
}

TEST_CASE("instances share the data, with ranges and without") {
    for (const bool interleaved : {true, false}) {
        for (const std::uint32_t count : {1U, 2U}) {
            CAPTURE(interleaved);
            CAPTURE(count);
            // An all-to-all of two chunks per pair, as ranges or one by one.
            Tracer tracer(heading(CollectiveKind::AllToAll, 3, 2, false));
            for (std::uint32_t a = 0; a < 3; ++a) {
                for (std::uint32_t b = 0; b < 3; ++b) {
                    for (std::uint32_t i = 0; i < 2; i += count) {
                        tracer.copy({a, kInput, 2 * b + i}, {b, kOutput, 2 * a + i}, count);
                    }
                }
            }
            lang::Trace trace = tracer.trace();
            trace.instances = 3;
            trace.interleaved = interleaved;
            const TraceResult result = compiled(trace);
            CHECK(judged(result) == plan::PlanClass::Valid);
            CHECK(result.plan.channels == 3);
            CHECK(result.plan.chunks_per_loop == 18);

            lang::Trace sums = ring(3, CollectiveKind::AllReduce, true).trace();
            sums.instances = 2;
            sums.interleaved = interleaved;
            CHECK(judged(compiled(sums)) == plan::PlanClass::Valid);
        }
    }
}

TEST_CASE("the user's thread blocks are kept") {
    Tracer tracer(heading(CollectiveKind::AllGather, 2, 1, false));
    lang::Trace head = tracer.trace();
    head.policy = lang::BlockPolicy::Manual;
    Tracer manual(head);
    for (std::uint32_t r = 0; r < 2; ++r) {
        manual.copy({r, kInput, 0}, {r, kOutput, r}, 1, {.send_block = 3});
        manual.copy({r, kInput, 0}, {1 - r, kOutput, r}, 1,
                    {.send_block = 1, .receive_block = 2, .channel = 4});
    }
    const TraceResult result = compiled(manual.trace());
    CHECK(judged(result) == plan::PlanClass::Valid);
    CHECK(result.plan.channels == 5);
    REQUIRE(result.plan.gpus[0].blocks.size() == 3);
    CHECK(result.plan.gpus[0].blocks[0].send_peer == Rank(1));
    CHECK(result.plan.gpus[0].blocks[1].recv_peer == Rank(1));
    CHECK(result.plan.gpus[0].blocks[2].steps.size() == 1);
}

TEST_CASE("thread blocks that contradict each other are refused with both lines") {
    lang::Trace head = heading(CollectiveKind::AllGather, 3, 1, false);
    head.policy = lang::BlockPolicy::Manual;
    const auto refusal = [&](const lang::Directive& first, const lang::Directive& second, std::uint32_t to) {
        Tracer tracer(head);
        const std::uint32_t a = tracer.place("p.py", 3), b = tracer.place("p.py", 9);
        tracer.copy({0, kInput, 0}, {1, kOutput, 0}, 1, first, a);
        tracer.copy({0, kInput, 0}, {to, kOutput, 0}, 1, second, b);
        try {
            (void)compile_trace(tracer.trace(), {}, judged);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refusal({0, 0, 0}, {0, 0, 0}, 2) ==
          "at p.py:9: thread block 0 of rank 0 sends to rank 1 and rank 2 (at p.py:3 and p.py:9)");
    CHECK(refusal({0, 0, 0}, {0, 0, 1}, 1) ==
          "at p.py:9: thread block 0 of rank 0 uses channel 0 and channel 1 (at p.py:3 and p.py:9)");
    CHECK(refusal({0, 0, 0}, {1, 0, 0}, 1) ==
          "at p.py:9: the connection from rank 0 to rank 1 on channel 0 would begin in two thread blocks, 0 "
          "and "
          "1 (at p.py:3 and p.py:9)");
    CHECK(refusal({0, 0, 0}, {-1, -1, 0}, 1) ==
          "at p.py:9: the connection from rank 0 to rank 1 on channel 0 would begin in two thread blocks, 0 "
          "and one without a number (at p.py:3 and p.py:9)");
}

TEST_CASE("every edge of a program's graph leads forward") {
    Rng rng(7);
    for (int round = 0; round < 200; ++round) {
        const Tracer tracer = random_program(rng, false);
        const Graph graph = graph_of(tracer.trace(), 71);
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            for (const std::uint32_t b : graph.before(i)) CHECK(b < i);
        }
    }
}

TEST_CASE(
    "random programs become execution plans that end as the program does, within the executor's limits") {
    std::size_t direct = 0, landed = 0;
    test::for_seeds(test::cases(1000), [&](Rng& rng, std::uint64_t seed) {
        const Tracer tracer = random_program(rng, seed % 2 == 0);
        lang::Trace trace = tracer.trace();
        if (trace.verbs.empty()) return;
        trace.instances = 1 + static_cast<std::uint32_t>(rng.below(2));
        INFO(io::chunk_trace_text(trace));
        for (const auto channel : {plan::ChannelType::Memory, plan::ChannelType::Port}) {
            const TraceExecution made = compile_trace_to_execution(trace, {.channel = channel}, executed);
            CHECK(made.plan.in_place == trace.shape.in_place);
            if (made.condition->outputs.empty()) continue;
            verify::PlanReading reading;
            reading.condition = made.condition;
            reading.target = plan::Target::Mscclpp;
            const plan::PlanVerdict verdict = verify::verify(made.plan, reading);
            CHECK(verdict.verdict == plan::PlanClass::Valid);
            for (const auto& warning : verdict.warnings) CHECK_FALSE(warning.code.starts_with("limit"));
            std::int64_t scratch = 0, declared = 0;
            for (std::uint32_t r = 0; r < trace.shape.ranks; ++r) {
                scratch += made.plan.gpus[r].scratch_chunks;
                declared += std::int64_t{graph_of(trace, 71).memory[r].scratch} * trace.instances;
            }
            ++(scratch > declared ? landed : direct);
        }
    });
    // Both happen: messages that go where they belong, and such that have to land elsewhere.
    CHECK(direct > 0);
    CHECK(landed > 0);
}

TEST_CASE("a sum that is sent on is one operation with that") {
    const TraceExecution made =
        compile_trace_to_execution(ring(3, CollectiveKind::AllReduce, true).trace(), {}, executed);
    const auto counts = operations_by_type(made.plan);
    // Of each chunk both sums are sent on, and both copies of the result come from the last one. What the
    // first one adds is read where it lies: nobody overwrites it before.
    CHECK(counts.at(plan::OperationType::ReadReduceSend) == 3);
    CHECK(counts.at(plan::OperationType::ReduceSend) == 3);
    CHECK_FALSE(counts.contains(plan::OperationType::Reduce));
    CHECK(counts.at(plan::OperationType::Put) == 3);
    CHECK(counts.at(plan::OperationType::Signal) == 12);
    // The proxy of a port channel sends what is in memory.
    const TraceExecution port = compile_trace_to_execution(ring(3, CollectiveKind::AllReduce, true).trace(),
                                                           {.channel = plan::ChannelType::Port}, executed);
    CHECK(operations_by_type(port.plan).at(plan::OperationType::Reduce) == 6);
}

TEST_CASE("with the protocol LL messages are packets where every rank's result depends on all ranks") {
    using plan::OperationType;
    std::size_t plans = 0;
    for (const lang::Algorithm& algorithm : lang::algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
                const lang::AlgorithmRequest request{.kind = kind, .ranks = ranks};
                if (!why_not(algorithm, request).empty()) continue;
                lang::Trace trace = program_of(algorithm, request);
                CAPTURE(algorithm.name);
                CAPTURE(name_of(kind));
                CAPTURE(ranks);
                trace.protocol = plan::Protocol::LL;
                trace.instances = ranks % 2 + 1;
                if (kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter) continue;
                const TraceExecution made = compile_trace_to_execution(trace, {}, executed);
                REQUIRE(executed(made) == plan::PlanClass::Valid);
                const auto counts = operations_by_type(made.plan);
                const bool packets = counts.contains(OperationType::PutPackets) ||
                                     counts.contains(OperationType::ReduceSendPackets);
                const bool from_all =
                    kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
                    kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
                CHECK(packets == from_all);
                CHECK(made.plan.double_scratch == from_all);
                CHECK((made.plan.protocol == plan::Protocol::LL) == from_all);
                CHECK(counts.contains(OperationType::Signal) == !from_all);
                CHECK(counts.contains(OperationType::Wait) == !from_all);
                plans += from_all ? 1 : 0;
            }
        }
    }
    CHECK(plans > 40);
    // Under other protocols there are none.
    lang::Trace trace = ring(3, CollectiveKind::AllReduce, true).trace();
    trace.protocol = plan::Protocol::LL128;
    CHECK(compile_trace_to_execution(trace, {}, executed).plan.protocol == plan::Protocol::Simple);
}

TEST_CASE("the proxy of a port channel sends packets that the sender has made") {
    using plan::OperationType;
    for (const std::uint32_t instances : {1U, 2U}) {
        lang::Trace trace = ring(4, CollectiveKind::AllReduce, true).trace();
        trace.protocol = plan::Protocol::LL;
        trace.instances = instances;
        const TraceExecution made =
            compile_trace_to_execution(trace, {.channel = plan::ChannelType::Port}, executed);
        REQUIRE(executed(made) == plan::PlanClass::Valid);
        CHECK(made.plan.protocol == plan::Protocol::LL);
        CHECK(made.plan.double_scratch);
        const auto counts = operations_by_type(made.plan);
        // 4 chunks go 6 steps each.
        CHECK(counts.at(OperationType::CopyPackets) == 24 * instances);
        CHECK(counts.at(OperationType::ReadPutPackets) == 24 * instances);
        CHECK_FALSE(counts.contains(OperationType::PutPackets));
        CHECK_FALSE(counts.contains(OperationType::Signal));
    }
}

TEST_CASE("what is added is read from its sender if that keeps it, and still does something after it") {
    using plan::OperationType;
    // Rank 1 adds what rank 0 has. Whether rank 0 hears of that: a copy comes back, or it does not.
    const auto counts_of = [](bool hears, bool overwrites) {
        lang::Trace head = heading(CollectiveKind::Custom, 2, 1, true);
        head.shape.custom_inputs = head.shape.custom_outputs = 2;
        for (std::uint32_t r = 0; r < 2; ++r) {
            for (std::uint32_t i = 0; i < 2; ++i)
                head.shape.initial.push_back({{r, kInput, i}, {Rank(r), std::int64_t{i}}});
        }
        Tracer tracer(head);
        tracer.reduce({0, kInput, 0}, {1, kInput, 0}, 1);
        if (overwrites) tracer.copy({0, kInput, 1}, {0, kInput, 0}, 1);
        if (hears) tracer.copy({1, kInput, 0}, {0, kInput, 1}, 1);
        return operations_by_type(compile_trace_to_execution(tracer.trace(), {}, executed).plan);
    };
    CHECK(counts_of(true, false).contains(OperationType::ReadReduceSend));
    CHECK_FALSE(counts_of(false, false).contains(OperationType::ReadReduce));
    CHECK(counts_of(false, false).at(OperationType::Put) == 1);
    // What overwrites it does not wait for the reader.
    CHECK_FALSE(counts_of(true, true).contains(OperationType::ReadReduceSend));
}

TEST_CASE("a copy is put where it belongs if its sender knows that the place is free") {
    // Rank 1 sends its chunk away; only then may it be replaced.
    const auto scratch_of = [](bool knows) {
        Tracer tracer(heading(CollectiveKind::Custom, 3, 1, true));
        lang::Trace head = tracer.trace();
        head.shape.custom_inputs = head.shape.custom_outputs = 2;
        for (std::uint32_t r = 0; r < 3; ++r) {
            for (std::uint32_t i = 0; i < 2; ++i)
                head.shape.initial.push_back({{r, kInput, i}, {Rank(r), i}});
        }
        Tracer program(head);
        program.copy({1, kInput, 0}, {knows ? 2U : 0U, kInput, 1}, 1);
        program.copy({2, kInput, 1}, {1, kInput, 0}, 1);
        const TraceExecution made = compile_trace_to_execution(program.trace(), {}, executed);
        return made.plan.gpus[1].scratch_chunks;
    };
    CHECK(scratch_of(true) == 0);
    CHECK(scratch_of(false) == 1);
}

TEST_CASE("execution plans name the collectives that the format knows, others have a condition") {
    const TraceExecution named =
        compile_trace_to_execution(ring(3, CollectiveKind::ReduceScatter, true).trace(), {}, executed);
    CHECK(named.plan.collective == "reducescatter");
    CHECK_FALSE(named.condition.has_value());
    Tracer tracer(heading(CollectiveKind::Broadcast, 2, 3, true));
    tracer.copy({0, kInput, 0}, {1, kInput, 0}, 3);
    const TraceExecution other = compile_trace_to_execution(tracer.trace(), {}, executed);
    CHECK(other.plan.collective == "custom");
    REQUIRE(other.condition.has_value());
    CHECK(other.condition->inputs.at(Rank(0)) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(other.condition->inputs.at(Rank(1)).empty());
    CHECK(other.condition->outputs.at(Rank(1)).size() == 3);
    // Put, nop, signal; wait.
    CHECK(operations_of(other.plan) == 4);

    Tracer gather(heading(CollectiveKind::Gather, 2, 1, true));
    gather.copy({1, kInput, 0}, {0, kOutput, 1}, 1);
    CHECK_THROWS_WITH_AS((void)compile_trace_to_execution(gather.trace(), {}, executed),
                         "an in-place gather is in place at the root only, which execution plans cannot say; "
                         "expected one that is out of place",
                         InputError);
}

TEST_CASE("where the judge tells times, the fastest plan is taken, not the one with the fewest steps") {
    const lang::Trace trace = ring(4, CollectiveKind::AllReduce, true).trace();
    std::size_t asked = 0;
    const auto slow_if_fused = [&](const TraceResult& result) {
        ++asked;
        return Judgement(judged(result), steps_by_type(result.plan).contains(StepType::ReceiveCopySend));
    };
    const TraceResult result = compile_trace(trace, {.timed = true}, slow_if_fused);
    CHECK_FALSE(steps_by_type(result.plan).contains(StepType::ReceiveCopySend));
    CHECK(plan::steps_of(result.plan) > plan::steps_of(compiled(trace).plan));
    CHECK(asked > 2);
}

TEST_CASE("of two orders the judge is asked about the one that needs no more room than there is") {
    // Each rank sends the other three chunks, on one thread block each, and lanes hold two: one has to
    // receive first.
    lang::Trace head = heading(CollectiveKind::AllGather, 2, 3, false);
    head.policy = lang::BlockPolicy::Manual;
    Tracer tracer(head);
    for (std::uint32_t r = 0; r < 2; ++r) {
        tracer.copy({r, kInput, 0}, {r, kOutput, 3 * r}, 3, {.send_block = 1});
        tracer.copy({r, kInput, 0}, {1 - r, kOutput, 3 * r}, 3, {.send_block = 0, .receive_block = 0});
    }
    std::size_t asked = 0;
    const TraceResult result = compile_trace(tracer.trace(), {}, [&](const TraceResult& made) {
        ++asked;
        return judged(made);
    });
    CHECK(judged(result) == plan::PlanClass::Valid);
    CHECK(asked == 1);
}

TEST_CASE("a plan that runs with the room that there is goes before others, unless there is none") {
    std::size_t all = 0, short_of_room = 0;
    test::for_seeds(test::cases(400), [&](Rng& rng, std::uint64_t seed) {
        const Tracer tracer = random_program(rng, seed % 2 == 0, lang::BlockPolicy::Manual);
        if (tracer.trace().verbs.empty()) return;
        INFO(io::chunk_trace_text(tracer.trace()));
        std::vector<plan::PlanClass> verdicts;
        (void)compile_trace(tracer.trace(), {}, [&](const TraceResult& made) {
            verdicts.push_back(judged(made));
            return Judgement(verdicts.back());
        });
        if (verdicts.front() == plan::PlanClass::StructureOnly) return;
        ++all;
        if (verdicts.front() == plan::PlanClass::Valid) return;
        ++short_of_room;
        CHECK(std::ranges::count(verdicts, plan::PlanClass::Valid) == 0);
    });
    CHECK(all > 200);
    CHECK(short_of_room < all / 20);
}

TEST_CASE("random programs become plans that end as the program does, in every interleaving") {
    std::size_t decided = 0, fused = 0;
    const std::uint64_t count = test::cases(1500);
    test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const Tracer tracer = random_program(rng, seed % 2 == 0);
        const lang::Trace& trace = tracer.trace();
        if (trace.verbs.empty()) return;
        INFO(io::chunk_trace_text(trace));
        const TraceResult result = compiled(trace);
        // Places that the program counts twice are in no condition; without any other the plan has nothing to
        // say.
        if (result.condition->outputs.empty()) return;
        const plan::PlanClass verdict = judged(result);
        CHECK((verdict == plan::PlanClass::Valid || verdict == plan::PlanClass::ValidIfBuffered));
        oracle::PlanQuestion question;
        question.condition = result.condition;
        const oracle::Opinion opinion = oracle::opinion_on(result.plan, question);
        if (opinion.kind == oracle::Opinion::Kind::Undecided) return;
        ++decided;
        CHECK(opinion.kind == oracle::Opinion::Kind::Fine);
        const auto steps = steps_by_type(result.plan);
        const bool has_fused = steps.contains(StepType::ReceiveCopySend) ||
                               steps.contains(StepType::ReceiveReduceCopySend) ||
                               steps.contains(StepType::ReceiveReduceSend);
        if (has_fused) ++fused;
    });
    CHECK(decided > count / 2);
    CHECK(fused > count / 15);
}
