// Plans run on data: every element of every output is what the collective demands, and the same bits whatever
// the engine, the size of pieces and the number of workers.

#include "core/error.hpp"
#include "lang/library.hpp"
#include "run/executable.hpp"
#include "tests/support/plan_builder.hpp"
#include "tests/support/runnable.hpp"
#include "tests/support/sample_plans.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <set>
#include <string>

namespace {

using namespace tutti;
using run::ElementType;
using run::Engine;
using run::Operator;
using test::CallCase;

constexpr std::array kTypes{ElementType::F32, ElementType::F16, ElementType::BF16,
                            ElementType::F64, ElementType::I8,  ElementType::U8,
                            ElementType::I32, ElementType::I64, ElementType::U64};
constexpr std::array kOperators{Operator::Sum, Operator::Prod, Operator::Min, Operator::Max, Operator::Avg};

/// The default program of an algorithm; nothing if it cannot serve these ranks.
std::optional<lang::Trace> program_of(const lang::Algorithm& algorithm, CollectiveKind kind,
                                      std::uint32_t ranks, std::optional<bool> in_place) {
    lang::AlgorithmRequest request;
    request.kind = kind;
    request.ranks = ranks;
    request.in_place = in_place;
    if (has_root(kind)) request.root = ranks - 1;
    if (!lang::why_not(algorithm, request).empty()) return std::nullopt;
    return lang::program_of(algorithm, request);
}

run::Executable ring(std::uint32_t ranks) {
    const auto trace = program_of(lang::algorithm_named("ring"), CollectiveKind::AllReduce, ranks, true);
    return run::executable_of(test::runnable(*trace).programs.at(0));
}

}  // namespace

TEST_CASE("every program of the library runs right, with both engines, at sizes that divide nothing") {
    std::size_t calls = 0;
    std::set<CollectiveKind> kinds;
    for (const lang::Algorithm& algorithm : lang::algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U}) {
                for (const bool in_place : {true, false}) {
                    const auto trace = program_of(algorithm, kind, ranks, in_place);
                    if (!trace) continue;
                    const test::Runnable runnable = test::runnable(*trace);
                    for (const verify::JudgedProgram& program : runnable.programs) {
                        const run::Executable executable = run::executable_of(program);
                        for (const std::int64_t count : {1, 17, 1000}) {
                            CallCase call{count, kTypes[calls % kTypes.size()],
                                          kOperators[calls % kOperators.size()]};
                            CAPTURE(algorithm.name);
                            CAPTURE(name_of(kind));
                            CAPTURE(ranks);
                            CAPTURE(program.in_place);
                            CAPTURE(count);
                            CAPTURE(run::name_of(call.type));
                            CAPTURE(run::name_of(call.op));
                            const auto pieces = test::run_once(executable, call, calls);
                            CHECK(pieces.compared > 0);
                            CHECK(pieces.wrong == 0);
                            call.engine = Engine::Streams;
                            call.piece_bytes = 64;
                            CHECK(test::run_once(executable, call, calls).wrong == 0);
                            kinds.insert(kind);
                            ++calls;
                        }
                    }
                }
            }
        }
    }
    CHECK(calls > 300);
    CHECK(kinds.size() >= 7);
}

TEST_CASE("a call in place takes the memory of one buffer for each rank") {
    const run::Executable executable = ring(4);
    std::int64_t elements = 0;
    const run::Layout layout(executable, 1000);
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory)
        elements += layout.elements(memory);
    CHECK(elements == 4 * 1000);
}

TEST_CASE("every type and every operator gives what it should") {
    const run::Executable executable = ring(4);
    for (const ElementType type : kTypes) {
        for (const Operator op : kOperators) {
            for (const std::int64_t count : {1, 63, 64, 5000}) {
                CAPTURE(run::name_of(type));
                CAPTURE(run::name_of(op));
                CAPTURE(count);
                const auto check = test::run_once(executable, {count, type, op});
                CHECK(check.compared == static_cast<std::uint64_t>(4 * count));
                CHECK(check.wrong == 0);
            }
        }
    }
}

TEST_CASE("outputs have the same bits whatever engine, piece and number of workers") {
    for (const std::string_view name : {"ring", "all-pairs", "halving-doubling"}) {
        const auto trace = program_of(lang::algorithm_named(name), CollectiveKind::AllReduce, 4, true);
        const run::Executable executable = run::executable_of(test::runnable(*trace).programs.at(0));
        for (const ElementType type :
             {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
            for (const Operator op : {Operator::Sum, Operator::Avg}) {
                const CallCase plain{6001, type, op};
                const auto expected = test::outputs_of(executable, plain);
                for (const Engine engine : {Engine::Pieces, Engine::Streams}) {
                    for (const std::size_t workers : {1U, 3U}) {
                        for (const std::size_t piece : {8U, 1000U, 0U}) {
                            CAPTURE(name);
                            CAPTURE(run::name_of(type));
                            CAPTURE(workers);
                            CAPTURE(piece);
                            CHECK(test::outputs_of(executable, {6001, type, op, engine, workers, piece}) ==
                                  expected);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("a chunk may rest in a place that is too short for it") {
    // Rank 0 keeps its chunk 0 in the place of chunk 2 of its output, of which a call with one element has
    // nothing, before it goes where it belongs.
    test::PlanBuilder builder("broadcast", 2, 3);
    builder.out_of_place()
        .gpu(3, 3)
        .tb(1, -1)
        .step("cpy", "i0", "o2")
        .step("cpy", "o2", "o0")
        .step("cpy", "i1", "o1")
        .step("cpy", "i2", "o2")
        .step("s", "o0", "o0", 3)
        .gpu(3, 3)
        .tb(-1, 0)
        .step("r", "o0", "o0", 3);
    const auto programs = test::runnable(builder.plan()).programs;
    REQUIRE(programs.size() == 1);
    const run::Executable executable = run::executable_of(programs[0]);
    for (const std::int64_t count : {1, 2, 3, 4, 5, 7, 1000}) {
        for (const Engine engine : {Engine::Pieces, Engine::Streams}) {
            CAPTURE(count);
            const auto check = test::run_once(executable, {count, ElementType::I32, Operator::Sum, engine});
            CHECK(check.compared == static_cast<std::uint64_t>(2 * count));
            CHECK(check.wrong == 0);
        }
    }
}

TEST_CASE("a plan with a wrong value is seen to run wrong") {
    plan::MscclPlan plan = test::ring_all_gather(3);
    const plan::Address wrong{plan::Buffer::Output, plan::ChunkOffset(2)};
    for (plan::Step& step : plan.gpus[1].blocks[0].steps) {
        if (step.type == plan::StepType::Send) step.src = step.dst = wrong;
    }
    for (const auto& program : test::runnable(plan).programs) {
        const auto check = test::run_once(run::executable_of(program), {});
        CHECK(check.wrong > 0);
        REQUIRE(check.first);
        CHECK(check.first->expected != check.first->found);
    }
}

TEST_CASE("steps that wait for each other are named") {
    test::PlanBuilder builder("allgather", 2, 2);
    builder.gpu(1, 2).tb(1, 1).step("r", "o1", "o1").step("s", "o0", "o0");
    builder.gpu(1, 2).tb(0, 0).step("r", "o0", "o0").step("s", "o1", "o1");
    const auto programs = test::runnable(builder.plan()).programs;
    REQUIRE(programs.size() == 1);
    try {
        (void)run::executable_of(programs[0]);
        FAIL("a deadlock was not found");
    } catch (const InputError& error) {
        const std::string text = error.what();
        CHECK(text.starts_with("deadlock: gpu "));
        CHECK(text.find("step 0 waits for gpu") != std::string::npos);
    }
}

TEST_CASE("of a race some order shows another result") {
    // Both receive into the same place of rank 0 and nothing orders them.
    test::PlanBuilder builder("allgather", 3, 3);
    builder.gpu(1, 3).tb(-1, 1).step("r", "o1", "o1").tb(-1, 2).step("r", "o2", "o1").step("nop", "-", "-");
    builder.gpu(1, 3).tb(0, -1).step("s", "o1", "o1");
    builder.gpu(1, 3).tb(0, -1).step("s", "o2", "o2");
    const auto programs = test::runnable(builder.plan()).programs;
    REQUIRE(programs.size() == 1);
    std::set<std::uint64_t> wrong;
    for (std::uint64_t order = 0; order < 30; ++order)
        wrong.insert(test::run_once(run::executable_of(programs[0], {order}), {}).wrong);
    CHECK(wrong.size() == 2);
}

TEST_CASE("the order may be another one without changing what a right plan does") {
    const auto trace = program_of(lang::algorithm_named("hierarchical"), CollectiveKind::AllReduce, 8, true);
    REQUIRE(trace);
    const auto programs = test::runnable(*trace).programs;
    for (std::uint64_t order = 1; order < 20; ++order) {
        for (const Engine engine : {Engine::Pieces, Engine::Streams}) {
            CallCase call{33};
            call.engine = engine;
            CHECK(test::run_once(run::executable_of(programs.at(0), {order}), call).wrong == 0);
        }
    }
}

TEST_CASE("of a race some order shows that one thread block is far ahead") {
    // Both receive into one place of rank 0. All is well if one thread block has done its 14 steps before the
    // other does its only one: nothing orders the two, and drawn step by step that hardly ever happens.
    test::PlanBuilder builder("allgather", 3, 3);
    builder.gpu(1, 3, 1).tb(-1, 1).step("r", "o1", "o1").tb(-1, 2).step("r", "o2", "o1");
    for (int step = 0; step < 12; ++step) builder.step("cpy", "o1", "s0");
    builder.step("cpy", "s0", "o2");
    builder.gpu(1, 3).tb(0, -1).step("s", "o1", "o1");
    builder.gpu(1, 3).tb(0, -1).step("s", "o2", "o2");
    const auto programs = test::runnable(builder.plan()).programs;
    REQUIRE(programs.size() == 1);
    std::set<std::uint64_t> wrong;
    for (std::uint64_t order = 1; order < 40; ++order)
        wrong.insert(test::run_once(run::executable_of(programs[0], {order}), {}).wrong);
    CHECK(wrong.size() > 1);
}
