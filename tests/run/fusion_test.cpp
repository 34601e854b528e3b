// Steps that are fused: fewer of them, and the same bits in all memories.

#include "run/fusion.hpp"
#include "core/rng.hpp"
#include "lang/library.hpp"
#include "run/local_memories.hpp"
#include "run/pieces.hpp"
#include "run/waits.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/plan_builder.hpp"
#include "tests/support/random_plans.hpp"
#include "tests/support/runnable.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace {

using namespace tutti;
using run::ElementType;
using run::Operator;

run::Executable library_plan(std::string_view algorithm, CollectiveKind kind, std::uint32_t ranks) {
    lang::AlgorithmRequest request;
    request.kind = kind;
    request.ranks = ranks;
    request.in_place = true;
    const auto trace = lang::program_of(lang::algorithm_named(algorithm), request);
    return run::executable_of(test::runnable(trace).programs.at(0));
}

/// Random numbers of a size that makes every order of additions count; for half types any bits are.
void fill(std::byte* memory, std::size_t bytes, ElementType type, Rng& rng) {
    for (std::size_t at = 0; at + run::size_of(type) <= bytes; at += run::size_of(type)) {
        if (type == ElementType::F32) {
            const auto value = static_cast<float>(rng.below(1'000'000)) / 997.0F;
            std::memcpy(memory + at, &value, sizeof value);
        } else {
            // Half types: of the size of 1, so that nothing overflows.
            const auto bits = static_cast<std::uint64_t>(rng.below(1U << 10U)) | 0x3c00U;
            std::memcpy(memory + at, &bits, run::size_of(type));
        }
    }
}

/// All memories that anybody looks at, after the steps of `what` were executed in their order.
std::vector<std::vector<std::byte>> memories_after(const run::Executable& what, const run::Layout& layout,
                                                   ElementType type, std::uint64_t seed) {
    run::LocalMemories memories(what, layout, type, Operator::Sum);
    Rng rng(seed);
    const auto bytes = [&](std::uint32_t memory) {
        return static_cast<std::size_t>(layout.elements(memory)) * run::size_of(type);
    };
    for (std::uint32_t memory = 0; memory < what.memories.size(); ++memory) {
        if (what.memories[memory].buffer != plan::Buffer::Scratch)
            fill(memories.memories()[memory], bytes(memory), type, rng);
    }
    run::PieceWorker(memories.binding(), 64).run(0, 1);
    std::vector<std::vector<std::byte>> after;
    for (std::uint32_t memory = 0; memory < what.memories.size(); ++memory) {
        if (what.memories[memory].buffer == plan::Buffer::Scratch) continue;
        const std::byte* const first = memories.memories()[memory];
        after.emplace_back(first, first + bytes(memory));
    }
    return after;
}

}  // namespace

TEST_CASE("an all-reduce becomes one step for each chunk") {
    const run::Executable plan = library_plan("ring", CollectiveKind::AllReduce, 8);
    const run::Executable fused = run::fused(plan, ElementType::F32);
    REQUIRE(fused.steps.size() == 8);
    for (const run::Step& step : fused.steps) {
        CHECK(step.targets == 8);
        CHECK(step.sources == 8);
    }
    CHECK(fused.temporaries == 0);
    // Half types round at each step, so sums stay apart; copies do not.
    const run::Executable half = run::fused(plan, ElementType::BF16);
    CHECK(half.steps.size() == 8 * 7);
    for (const run::Step& step : half.steps) CHECK(step.sources == 2);
}

TEST_CASE("the sums of a tree stay a tree") {
    // ((a + b) + (c + d)) + ((e + f) + (g + h)): a sum begins with each of a, c, e and g.
    const run::Executable plan = library_plan("all-pairs", CollectiveKind::AllReduce, 8);
    const run::Executable fused = run::fused(plan, ElementType::F32);
    CHECK(fused.steps.size() == 8 * 4);
    std::size_t everywhere = 0;
    for (const run::Step& step : fused.steps) everywhere += step.targets == 8 ? 1 : 0;
    CHECK(everywhere == 8);
}

TEST_CASE("streams keep what spreads the work over the ranks") {
    const run::Executable all_reduce = library_plan("ring", CollectiveKind::AllReduce, 4);
    CHECK(run::fused_if_balanced(all_reduce, ElementType::F32).steps.size() == 4);
    // Fused, the root would add up everything.
    const run::Executable reduce = library_plan("ring", CollectiveKind::Reduce, 4);
    CHECK(run::fused(reduce, ElementType::F32).steps.size() < reduce.steps.size());
    CHECK(run::fused_if_balanced(reduce, ElementType::F32).steps.size() == reduce.steps.size());
}

TEST_CASE("fused steps leave the same bits in all memories") {
    std::size_t fewer = 0;
    const std::uint64_t count = test::cases(1000);
    test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const plan::MscclPlan plan =
            test::random_plan(rng, static_cast<test::PlanOrigin>(seed % test::kPlanOrigins));
        std::vector<verify::JudgedProgram> programs;
        if (!verify::verify(plan, {}, programs).acceptable()) return;
        for (const verify::JudgedProgram& program : programs) {
            const run::Executable executable = run::executable_of(program, {.shuffle = seed % 3});
            const run::Layout layout(executable, 50);
            for (const ElementType type : {ElementType::F32, ElementType::F16}) {
                const run::Executable fused = run::fused(executable, type);
                CHECK(memories_after(fused, layout, type, seed) ==
                      memories_after(executable, layout, type, seed));
                if (fused.steps.size() < executable.steps.size()) ++fewer;
            }
        }
    });
    if (count >= 200) CHECK(fewer > count / 4);
}

TEST_CASE("tasks wait for what they read and for readers of what they overwrite") {
    // Stream 0 writes place 0, stream 1 reads it, stream 2 overwrites it.
    run::Executable executable;
    executable.memories.resize(1);
    executable.memories[0].places = 2;
    executable.operands = {{0, 0}, {0, 1}, {0, 1}, {0, 0}, {0, 0}, {0, 1}};
    executable.steps = {{0, 1, 1}, {2, 1, 1}, {4, 1, 1}};
    executable.tasks = {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}};
    executable.streams = {{Rank(0), {0}}, {Rank(0), {1}}, {Rank(0), {2}}};
    run::set_data_waits(executable);
    const auto waits = [&](std::size_t task) {
        const run::Task& at = executable.tasks[task];
        return std::vector<run::Wait>(executable.waits.begin() + at.first_wait,
                                      executable.waits.begin() + at.first_wait + at.waits);
    };
    CHECK(waits(0).empty());
    CHECK(waits(1) == std::vector<run::Wait>{{0, 1}});
    CHECK(waits(2) == std::vector<run::Wait>{{0, 1}, {1, 1}});
}
