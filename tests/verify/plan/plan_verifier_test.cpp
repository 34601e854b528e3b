#include "verify/plan/plan_verifier.hpp"
#include "tests/support/plan_builder.hpp"
#include "tests/support/plan_ids.hpp"
#include "verify/plan/judged_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace {

using namespace tutti;
using plan::PlanClass;
using test::PlanBuilder;

/// Two ranks that exchange their block in place; every test below breaks or changes one thing of it.
PlanBuilder exchange() {
    PlanBuilder plan("allgather", 2, 2);
    plan.gpu(1, 2).tb(1, 1).step("s", "o0", "o0").step("r", "o1", "o1");
    plan.gpu(1, 2).tb(0, 0).step("s", "o1", "o1").step("r", "o0", "o0");
    return plan;
}

/// An all-reduce of two ranks through scratch: one thread block sends, one receives, one adds.
PlanBuilder reduction() {
    PlanBuilder plan("allreduce", 2, 1);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(1, 0, 1);
        plan.tb(1 - rank, -1).step("s", "i0", "s0").signals();
        plan.tb(-1, 1 - rank).step("r", "i0", "s0").signals();
        plan.tb(-1, -1).step("nop", "-", "-", 0).after(0, 0).step("re", "s0", "i0").after(1, 0);
    }
    return plan;
}

bool has_code(const std::vector<plan::PlanFinding>& findings, std::string_view code) {
    return std::ranges::any_of(findings, [&](const auto& finding) { return finding.code == code; });
}

std::string first_code(const plan::PlanVerdict& verdict) {
    return verdict.violations.empty() ? "" : verdict.violations.front().code;
}

plan::Step& step_of(PlanBuilder& plan, std::size_t gpu, std::size_t block, std::size_t step) {
    return plan.plan().gpus[gpu].blocks[block].steps[step];
}

}  // namespace

TEST_CASE("plans that keep every rule are valid") {
    CHECK(verify::verify(exchange()).verdict == PlanClass::Valid);
    const plan::PlanVerdict verdict = verify::verify(reduction());
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(verdict.warnings.empty());
    CHECK(verdict.collective == "allreduce");
    CHECK(verdict.mode == "in-place");
    CHECK(verdict.steps == 8);
}

TEST_CASE("gpus are 0, 1, … once each") {
    PlanBuilder twice = exchange(), missing = exchange();
    twice.plan().gpus[1].id = Rank(0);
    missing.plan().ranks = 3;
    CHECK(first_code(verify::verify(twice)) == "gpu-id");
    CHECK(first_code(verify::verify(missing)) == "gpu-id");
    PlanBuilder reversed = exchange();
    std::ranges::reverse(reversed.plan().gpus);
    CHECK(verify::verify(reversed).verdict == PlanClass::Valid);
}

TEST_CASE("thread blocks are 0, 1, … once each, in any order") {
    PlanBuilder twice = reduction(), gap = reduction(), reversed = reduction();
    twice.plan().gpus[0].blocks[1].id = plan::BlockId(0);
    gap.plan().gpus[0].blocks[2].id = plan::BlockId(7);
    std::ranges::reverse(reversed.plan().gpus[1].blocks);
    CHECK(first_code(verify::verify(twice)) == "tb-id");
    CHECK(first_code(verify::verify(gap)) == "tb-id");
    CHECK(verify::verify(reversed).verdict == PlanClass::Valid);
}

TEST_CASE("a step's number is its position") {
    PlanBuilder plan = exchange();
    step_of(plan, 0, 0, 1).number = plan::StepId(2);
    CHECK(first_code(verify::verify(plan)) == "step");
}

TEST_CASE("a peer is another gpu of the plan") {
    PlanBuilder self = exchange(), beyond = exchange(), none = exchange();
    self.plan().gpus[0].blocks[0].send_peer = Rank(0);
    beyond.plan().gpus[0].blocks[0].recv_peer = Rank(2);
    none.plan().gpus[0].blocks[0].send_peer = std::nullopt;
    CHECK(first_code(verify::verify(self)) == "peer");
    CHECK(first_code(verify::verify(beyond)) == "peer");
    CHECK(first_code(verify::verify(none)) == "connection");
}

TEST_CASE("a channel is below nchannels, and no channel is fine for local work") {
    PlanBuilder high = exchange(), local = reduction();
    high.plan().gpus[0].blocks[0].channel = plan::ChannelId(1);
    local.plan().gpus[0].blocks[2].channel = std::nullopt;
    CHECK(first_code(verify::verify(high)) == "channel");
    CHECK(verify::verify(local).verdict == PlanClass::Valid);
}

TEST_CASE("a connection has one thread block at each end") {
    PlanBuilder plan("broadcast", 2, 2);
    plan.gpu(2, 0).tb(1, -1).step("s", "i0", "i0").tb(1, -1).step("s", "i1", "i1");
    plan.gpu(2, 0).tb(-1, 0).step("r", "i0", "i0").step("r", "i1", "i1");
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(first_code(verdict) == "connection");
    REQUIRE_FALSE(verdict.violations.empty());
    CHECK(verdict.violations.front().message.find("both send to gpu 1 on channel 0") != std::string::npos);
    plan.plan().gpus[0].blocks[0].steps.push_back(step_of(plan, 0, 1, 0));
    step_of(plan, 0, 0, 1).number = plan::StepId(1);
    plan.plan().gpus[0].blocks[1].steps.clear();
    const plan::PlanVerdict idle = verify::verify(plan);
    CHECK(idle.verdict == PlanClass::Valid);
    CHECK(has_code(idle.warnings, "idle-connection"));
}

TEST_CASE("every send is received and every receive has its send") {
    PlanBuilder lost = exchange(), awaited = exchange();
    lost.plan().gpus[0].blocks[0].steps.pop_back();
    awaited.plan().gpus[0].blocks[0].steps.erase(awaited.plan().gpus[0].blocks[0].steps.begin());
    step_of(awaited, 0, 0, 0).number = plan::StepId(0);
    const plan::PlanVerdict first = verify::verify(lost), second = verify::verify(awaited);
    CHECK(first_code(first) == "unmatched");
    CHECK(first.violations.front().message.find("is never received") != std::string::npos);
    CHECK(first_code(second) == "unmatched");
    CHECK(second.violations.front().place ==
          plan::Place{.gpu = Rank(1), .block = plan::BlockId(0), .step = plan::StepId(1)});
}

TEST_CASE("both ends of a message move the same number of chunks") {
    PlanBuilder plan("allgather", 2, 4);
    plan.gpu(2, 4).tb(1, 1).step("s", "o0", "o0", 2).step("r", "o2", "o2", 2);
    plan.gpu(2, 4).tb(0, 0).step("s", "o2", "o2", 2).step("r", "o0", "o0", 1);
    CHECK(first_code(verify::verify(plan)) == "count-mismatch");
}

TEST_CASE("a dependency names a step that is there") {
    PlanBuilder no_step = reduction(), no_block = reduction(), half = reduction();
    step_of(no_step, 0, 2, 1).dep_step = plan::StepId(9);
    step_of(no_block, 0, 2, 1).dep_block = plan::BlockId(9);
    step_of(half, 0, 2, 1).dep_step = std::nullopt;
    CHECK(first_code(verify::verify(no_step)) == "dependency");
    CHECK(first_code(verify::verify(no_block)) == "dependency");
    CHECK(first_code(verify::verify(half)) == "dependency");
}

TEST_CASE("a dependency on a step that never signals waits for ever") {
    PlanBuilder plan = reduction();
    step_of(plan, 0, 1, 0).signals = false;
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(first_code(verdict) == "deadlock");
    CHECK(verdict.violations.front().message.find("hasdep=1") != std::string::npos);
}

TEST_CASE("a later signal of the thread block serves a dependency, with a warning") {
    PlanBuilder plan("broadcast", 2, 2);
    plan.gpu(2, 0, 0).tb(1, -1).step("s", "i0", "i0").step("s", "i1", "i1");
    plan.gpu(2, 0, 2).tb(-1, 0).step("r", "s0", "s0").step("r", "s1", "s1").signals();
    plan.tb(-1, -1).step("cpy", "s0", "i0").after(0, 0).step("cpy", "s1", "i1").after(0, 1);
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(has_code(verdict.warnings, "unsignalled-dependency"));
    verify::PlanReading strict;
    strict.strict_dependencies = true;
    CHECK(first_code(verify::verify(plan, strict)) == "dependency");
}

TEST_CASE("two peers that both receive first wait for each other") {
    PlanBuilder plan("allgather", 2, 2);
    plan.gpu(1, 2).tb(1, 1).step("r", "o1", "o1").step("s", "o0", "o0");
    plan.gpu(1, 2).tb(0, 0).step("r", "o0", "o0").step("s", "o1", "o1");
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(first_code(verdict) == "deadlock");
    CHECK(verdict.violations.front().others.size() == 3);
    CHECK_FALSE(verdict.fifo);
}

TEST_CASE("a step that depends on itself or its own future waits for ever") {
    PlanBuilder plan = reduction();
    step_of(plan, 0, 2, 0).dep_block = plan::BlockId(2);
    step_of(plan, 0, 2, 0).dep_step = plan::StepId(1);
    CHECK(first_code(verify::verify(plan)) == "deadlock");
}

TEST_CASE("offset and count lie inside the buffer, whatever is declared") {
    PlanBuilder declared_too_little = exchange(), behind = exchange(), tail = exchange();
    declared_too_little.plan().gpus[0].output_chunks = 1;
    declared_too_little.plan().gpus[0].input_chunks = 0;
    step_of(behind, 0, 0, 1).dst.offset = plan::ChunkOffset(2);
    for (auto& gpu : tail.plan().gpus) gpu.output_chunks = 100;
    step_of(tail, 0, 0, 1).count = step_of(tail, 1, 0, 0).count = 2;
    CHECK(first_code(verify::verify(declared_too_little)) == "range");
    PlanBuilder nowhere = exchange();
    step_of(nowhere, 0, 0, 0).src.offset.reset();
    const plan::PlanVerdict lost = verify::verify(nowhere);
    CHECK(first_code(lost) == "range");
    CHECK_FALSE(lost.violations.front().place.offset.has_value());
    CHECK(first_code(verify::verify(behind)) == "range");
    const plan::PlanVerdict verdict = verify::verify(tail);
    CHECK(first_code(verdict) == "range");
    CHECK(verdict.violations.front().place.buffer == plan::Buffer::Output);
}

TEST_CASE("a copy may not overlap itself in part, and one onto itself does nothing") {
    PlanBuilder overlap("allreduce", 1, 3), itself("allreduce", 1, 3);
    overlap.gpu(3, 0).tb(-1, -1).step("cpy", "i0", "i1", 2);
    itself.gpu(3, 3).both_modes().tb(-1, -1).step("cpy", "i0", "o0", 3);
    CHECK(first_code(verify::verify(overlap)) == "overlap");
    CHECK(verify::verify(itself).verdict == PlanClass::Valid);
}

TEST_CASE("a reducing receive may not overlap its operand in part: its chunks are worked on at once") {
    // Found by exploring interleavings: whether the second sum sees what the first one stored is a matter of
    // luck.
    PlanBuilder plan("custom", 2, 3);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(3, 3).tb(1 - rank, 1 - rank).step("s", "i0", "i0", 2).step("rrc", "i0", "i1", 2);
    }
    CHECK(first_code(verify::verify(plan)) == "overlap");
    for (plan::Gpu& gpu : plan.plan().gpus) gpu.blocks[0].steps[1].dst.offset = plan::ChunkOffset(0);
    CHECK(verify::verify(plan).verdict == PlanClass::StructureOnly);
}

TEST_CASE("a plan that leaves its buffers and would also hang is refused, and the verifier terminates") {
    // Found by exploring interleavings: no capacity is enough for who receives first, and all were tried.
    PlanBuilder plan("allgather", 2, 2);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(1, 2).tb(1 - rank, 1 - rank).step("r", "o0", "o7").step("s", "o0", "o0");
    }
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(first_code(verdict) == "range");
    CHECK_FALSE(verdict.fifo.has_value());
}

TEST_CASE("only the root of a gather has an output, only that of a scatter an input") {
    // Found by exploring interleavings: rank 1 used memory that its caller never gave.
    PlanBuilder gather("gather", 2, 1), scatter("scatter", 2, 1);
    gather.out_of_place().gpu(1, 2).tb(-1, 1).step("cpy", "i0", "o0").step("r", "i0", "o1");
    gather.gpu(1, 2).tb(0, -1).step("cpy", "i0", "o0").step("s", "o0", "o1");
    scatter.out_of_place().gpu(2, 1).tb(1, -1).step("cpy", "i0", "o0").step("s", "i1", "i0");
    scatter.gpu(2, 1).tb(-1, 0).step("r", "i1", "i0").step("cpy", "i0", "o0");
    for (PlanBuilder* plan : {&gather, &scatter}) {
        verify::PlanReading reading;
        reading.root = Rank(0);
        const plan::PlanVerdict verdict = verify::verify(*plan, reading);
        CHECK(first_code(verdict) == "range");
        CHECK(verify::verify(*plan).verdict == PlanClass::Invalid);
        // Through scratch it is right.
        for (plan::Step& step : plan->plan().gpus[1].blocks[0].steps) {
            plan::Address& address = plan == &gather
                                         ? (step.type == plan::StepType::Copy ? step.dst : step.src)
                                         : (step.type == plan::StepType::Copy ? step.src : step.dst);
            address = {plan::Buffer::Scratch, plan::ChunkOffset(0)};
        }
        plan->plan().gpus[1].scratch_chunks = 1;
        CHECK(verify::verify(*plan, reading).verdict == PlanClass::Valid);
        CHECK(verify::verify(*plan).root == Rank(0));
    }
}

TEST_CASE("of a rooted plan that is wrong for every root, the root that fits best is spoken of") {
    // In place, rank 2 is the root; it forgets rank 1's chunk. For other roots it would use memory that is
    // not there.
    PlanBuilder plan("gather", 3, 1);
    plan.gpu(1, 0).tb(2, -1).step("s", "i0", "o0");
    plan.gpu(1, 0);
    plan.gpu(1, 3).tb(-1, 0).step("r", "i0", "o0");
    const plan::PlanVerdict verdict = verify::verify(plan);
    REQUIRE(verdict.violation_count == 1);
    CHECK(verdict.violations.front().code == "value");
    CHECK(verdict.violations.front().place.gpu == Rank(2));
    CHECK(verdict.violations.front().place.offset == plan::ChunkOffset(1));
}

TEST_CASE("a kilobyte of file does not ask for gigabytes of memory") {
    PlanBuilder plan("allgather", 2, 1 << 24);
    const std::int32_t half = 1 << 23;
    const std::string first = "o0", second = "o" + std::to_string(half);
    plan.gpu(half, 2 * half).tb(1, 1).step("s", first, first, half).step("r", second, second, half);
    plan.gpu(half, 2 * half).tb(0, 0).step("s", second, second, half).step("r", first, first, half);
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(verdict.verdict == PlanClass::Malformed);
    CHECK(first_code(verdict) == "too-large");
}

TEST_CASE("chunks that must be divided among the ranks can be") {
    PlanBuilder plan = exchange();
    plan.plan().chunks_per_loop = 3;
    CHECK(first_code(verify::verify(plan)) == "chunks");
}

TEST_CASE("a read that nothing orders after the write it needs is a race") {
    PlanBuilder plan = reduction();
    step_of(plan, 0, 2, 1).dep_block.reset(), step_of(plan, 0, 2, 1).dep_step.reset();
    const plan::PlanVerdict verdict = verify::verify(plan);
    REQUIRE(first_code(verdict) == "race");
    const plan::PlanFinding& race = verdict.violations.front();
    CHECK(race.place == plan::Place{.gpu = Rank(0),
                                    .block = plan::BlockId(1),
                                    .step = plan::StepId(0),
                                    .offset = plan::ChunkOffset(0),
                                    .buffer = plan::Buffer::Scratch});
    CHECK(race.others.front() == plan::Place{.gpu = Rank(0),
                                             .block = plan::BlockId(2),
                                             .step = plan::StepId(1),
                                             .offset = plan::ChunkOffset(0),
                                             .buffer = plan::Buffer::Scratch});
}

TEST_CASE("a write that nothing orders after the reads of the old value is a race") {
    PlanBuilder plan = reduction();
    step_of(plan, 0, 2, 0).type = plan::StepType::Nop;
    step_of(plan, 0, 2, 0).dep_block.reset(), step_of(plan, 0, 2, 0).dep_step.reset();
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(first_code(verdict) == "race");
    CHECK(verdict.violations.front().message.find("i[0] of gpu 0") != std::string::npos);
}

TEST_CASE("an order through another gpu is an order") {
    // gpu 0 sends its scratch away, gets an answer, and only then writes the scratch from another thread
    // block.
    PlanBuilder plan("custom", 2, 1);
    plan.out_of_place();
    plan.gpu(1, 1, 1);
    plan.tb(1, -1).step("cpy", "i0", "s0").step("s", "s0", "o0");
    plan.tb(-1, 1).step("r", "o0", "o0").step("cpy", "i0", "s0");
    plan.gpu(1, 1, 0);
    plan.tb(-1, 0).step("r", "s0", "o0").signals();
    plan.tb(0, -1).step("s", "o0", "o0").after(0, 0);
    CHECK(verify::verify(plan).verdict == PlanClass::StructureOnly);
    step_of(plan, 1, 1, 0).dep_block.reset(), step_of(plan, 1, 1, 0).dep_step.reset();
    CHECK(first_code(verify::verify(plan)) == "race");
}

TEST_CASE("a race that reaches no output is a warning, unless the outputs are unknown") {
    PlanBuilder plan = reduction();
    plan.plan().gpus[0].scratch_chunks = 2;
    for (std::int32_t i = 0; i < 2; ++i) {
        const plan::Step copy{.type = plan::StepType::Copy,
                              .src = {plan::Buffer::Scratch, plan::ChunkOffset(0)},
                              .dst = {plan::Buffer::Scratch, plan::ChunkOffset(1)},
                              .dep_block = plan::BlockId(1),
                              .dep_step = plan::StepId(0)};
        plan.plan().gpus[0].blocks.push_back({.id = test::id<plan::BlockId>(3 + i), .steps = {copy}});
    }
    plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(has_code(verdict.warnings, "dead-race"));
    plan.plan().collective = "custom";
    verdict = verify::verify(plan);
    CHECK(verdict.verdict == PlanClass::Invalid);
    CHECK(first_code(verdict) == "race");
}

TEST_CASE("a contribution that is missing, added twice or never written is reported with its place") {
    PlanBuilder missing = reduction(), twice = reduction(), out = exchange();
    step_of(missing, 1, 2, 1).type = plan::StepType::Nop;
    step_of(missing, 1, 2, 1).count = 0;
    auto& steps = twice.plan().gpus[0].blocks[2].steps;
    steps.push_back(steps.back());
    steps.back().number = plan::StepId(2);
    out.out_of_place();
    const plan::PlanVerdict first = verify::verify(missing), second = verify::verify(twice),
                            third = verify::verify(out);
    CHECK(first_code(first) == "value");
    CHECK(first.violations.front().message.find("missing (0,0)") != std::string::npos);
    CHECK(first_code(second) == "value");
    CHECK(second.violations.front().message.find("added too often (1,0) 2 times") != std::string::npos);
    CHECK(first_code(third) == "value");
    CHECK(third.violations.front().message.find("undefined data") != std::string::npos);
    CHECK(third.violations.front().place.offset == plan::ChunkOffset(0));
}

TEST_CASE("FIFO capacity is judged apart from the other rules") {
    // Both ranks send n chunks before they receive any.
    const auto flood = [](std::int32_t chunks, bool one_step) {
        PlanBuilder plan("allgather", 2, 2 * chunks);
        for (std::int32_t rank = 0; rank < 2; ++rank) {
            plan.gpu(chunks, 2 * chunks).tb(1 - rank, 1 - rank);
            for (const char* type : {"s", "r"}) {
                const std::int32_t first = (type[0] == 's' ? rank : 1 - rank) * chunks;
                for (std::int32_t c = 0; c < (one_step ? 1 : chunks); ++c) {
                    const std::string at = "o" + std::to_string(first + c);
                    plan.step(type, at, at, one_step ? chunks : 1);
                }
            }
        }
        return plan;
    };
    CHECK(verify::verify(flood(2, false)).verdict == PlanClass::Valid);
    const plan::PlanVerdict steps = verify::verify(flood(9, false)), one = verify::verify(flood(9, true));
    CHECK(steps.verdict == PlanClass::ValidIfBuffered);
    CHECK(steps.fifo->chunks == 9);
    CHECK(steps.fifo->steps == 9);
    CHECK(one.verdict == PlanClass::ValidIfBuffered);
    CHECK(one.fifo->chunks == 9);
    CHECK(one.fifo->steps == 1);
    PlanBuilder buffered = flood(8, false);
    buffered.plan().protocol = plan::Protocol::LL;
    CHECK(verify::verify(buffered).verdict == PlanClass::Valid);
}

TEST_CASE("the local operand of a reducing receive is read from src, or from dst where asked") {
    // The sender's address stands in src, as MSCCLang writes it.
    PlanBuilder plan("reduce", 2, 2);
    plan.gpu(2, 0).tb(1, -1).step("s", "i0", "i0").step("s", "i1", "i1");
    plan.gpu(2, 0).tb(-1, 0).step("rrc", "i0", "i0").step("rrc", "i1", "i1");
    CHECK(verify::verify(plan).verdict == PlanClass::Valid);
    CHECK(verify::verify(plan).root == Rank(1));
    std::swap(step_of(plan, 1, 0, 0).src.offset, step_of(plan, 1, 0, 1).src.offset);
    CHECK(first_code(verify::verify(plan)) == "value");
    verify::PlanReading reading;
    reading.operand = verify::PlanReading::Operand::Destination;
    CHECK(verify::verify(plan, reading).verdict == PlanClass::Valid);
}

TEST_CASE("copy elements are ignored unless they are to be executed") {
    PlanBuilder plan("allgather", 2, 2);
    plan.out_of_place();
    plan.gpu(1, 2).tb(1, 1).step("s", "i0", "o0").step("r", "o1", "o1");
    plan.gpu(1, 2).tb(0, 0).step("s", "i0", "o1").step("r", "o0", "o0");
    plan.plan().gpus[0].copies = {{0, 0}};
    plan.plan().gpus[1].copies = {{0, 1}};
    CHECK(first_code(verify::verify(plan)) == "value");
    CHECK(has_code(verify::verify(plan).warnings, "ignored"));
    verify::PlanReading reading;
    reading.copies_first = true;
    CHECK(verify::verify(plan, reading).verdict == PlanClass::Valid);
}

TEST_CASE("a plan for both modes must be right in both") {
    PlanBuilder plan = exchange();
    plan.both_modes();
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(first_code(verdict) == "value");
    CHECK(verdict.violations.front().message.starts_with("called out of place: "));
    // What is wrong in the other mode is told too.
    step_of(plan, 0, 0, 0).src.offset = plan::ChunkOffset(1);
    const plan::PlanVerdict worse = verify::verify(plan);
    CHECK(worse.violations.back().message.starts_with("called in place: "));
}

TEST_CASE("a custom collective is judged in structure, or by a condition from outside") {
    PlanBuilder plan = exchange();
    plan.plan().collective = "custom";
    plan.out_of_place();
    step_of(plan, 0, 0, 0).src = {plan::Buffer::Input, plan::ChunkOffset(0)};
    step_of(plan, 1, 0, 0).src = {plan::Buffer::Input, plan::ChunkOffset(0)};
    CHECK(verify::verify(plan).verdict == PlanClass::StructureOnly);
    verify::PlanReading reading;
    reading.condition.emplace();
    reading.condition->outputs[Rank(0)][1] = {{Rank(1), 0}};
    CHECK(verify::verify(plan, reading).verdict == PlanClass::Valid);
    reading.condition->outputs[Rank(1)][0] = {{Rank(0), 0}, {Rank(1), 0}};
    CHECK(first_code(verify::verify(plan, reading)) == "value");
}

TEST_CASE("a condition that asks for what the plan does not have is not met") {
    PlanBuilder plan = exchange();
    plan.plan().collective = "custom";
    for (const auto& [rank, chunk, from] : {std::tuple{2, 0, 0}, std::tuple{0, 77, 0}, std::tuple{0, 0, 9}}) {
        verify::PlanReading reading;
        reading.condition.emplace();
        reading.condition->outputs[test::id<Rank>(rank)][chunk] = {{test::id<Rank>(from), 0}};
        CHECK(first_code(verify::verify(plan, reading)) == "condition");
    }
}

TEST_CASE("another collective than the file's can be asked for") {
    PlanBuilder plan("allreduce", 2, 2);
    plan.out_of_place();
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        const std::string own = std::to_string(rank), other = std::to_string(1 - rank);
        plan.gpu(2, 2).tb(1 - rank, 1 - rank).step("s", "i" + other, "o0").step("r", "i0", "o" + other);
        plan.tb(-1, -1).step("cpy", "i" + own, "o" + own);
    }
    CHECK(first_code(verify::verify(plan)) == "value");
    verify::PlanReading reading;
    reading.goal = CollectiveKind::AllToAll;
    CHECK(verify::verify(plan, reading).verdict == PlanClass::Valid);
}

TEST_CASE("a warning names what the target runtime would refuse or ignore") {
    PlanBuilder plan("reduce_scatter", 1, 1);
    plan.gpu(1, 0, 80).tb(-1, -1);
    for (int i = 0; i < 100; ++i) plan.step("cpy", "i0", "s0");
    plan.step("cpy", "s0", "s1", 72 - 1).step("cpy", "s0", "s1");
    plan.plan().min_bytes.reset();
    step_of(plan, 0, 0, 100) = {.number = plan::StepId(100),
                                .type = plan::StepType::Reduce,
                                .src = {plan::Buffer::Scratch, plan::ChunkOffset(1)},
                                .dst = {plan::Buffer::Scratch, plan::ChunkOffset(0)}};
    step_of(plan, 0, 0, 101) = {.number = plan::StepId(101),
                                .type = plan::StepType::Reduce,
                                .src = {plan::Buffer::Scratch, plan::ChunkOffset(2)},
                                .dst = {plan::Buffer::Scratch, plan::ChunkOffset(0)}};
    plan.step("re", "s2", "s0", 1);
    verify::PlanReading reading;
    CHECK_FALSE(has_code(verify::verify(plan, reading).warnings, "limit-steps"));
    reading.target = plan::Target::Rccl;
    const plan::PlanVerdict rccl = verify::verify(plan, reading);
    CHECK(has_code(rccl.warnings, "limit-steps"));
    CHECK(has_code(rccl.warnings, "target-attribute"));
    CHECK(has_code(rccl.warnings, "target-collective"));
    reading.target = plan::Target::Msccl;
    const plan::PlanVerdict msccl = verify::verify(plan, reading);
    CHECK_FALSE(has_code(msccl.warnings, "limit-steps"));
    CHECK_FALSE(has_code(msccl.warnings, "target-attribute"));
    CHECK_FALSE(has_code(msccl.warnings, "target-collective"));
}

TEST_CASE("nops that the runtimes mishandle are warned of") {
    PlanBuilder refused = reduction(), trailing = reduction(), idle = reduction();
    std::swap(step_of(refused, 0, 2, 0).dep_step, step_of(refused, 0, 2, 0).dep_step);
    auto& adder = refused.plan().gpus[0].blocks[2].steps;
    adder.insert(adder.begin() + 1, adder[0]);
    adder[1].dep_block = plan::BlockId(1);
    for (std::size_t i = 0; i < adder.size(); ++i) adder[i].number = plan::StepId(i);
    adder[2].dep_block.reset(), adder[2].dep_step.reset();
    const plan::PlanVerdict verdict = verify::verify(refused);
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(has_code(verdict.warnings, "nop-dependency"));
    trailing.plan().gpus[0].blocks[2].steps.push_back(
        {.number = plan::StepId(2), .count = 0, .dep_block = plan::BlockId(1), .dep_step = plan::StepId(0)});
    CHECK(has_code(verify::verify(trailing).warnings, "trailing-nop"));
    idle.plan().gpus[0].blocks[2].steps.push_back({.number = plan::StepId(2), .count = 0});
    CHECK(has_code(verify::verify(idle).warnings, "idle-nop"));
}

TEST_CASE("what is wrong beside nops is told of the steps that it concerns, nops among them") {
    const auto found = [](PlanBuilder& plan, std::string_view code) {
        std::vector<verify::JudgedProgram> kept;
        const plan::PlanVerdict verdict = verify::verify(plan), other = verify::verify(plan, {}, kept);
        REQUIRE(first_code(verdict) == code);
        REQUIRE(first_code(other) == code);
        CHECK(verdict.violations.front().message == other.violations.front().message);
        const auto step = [](const plan::Place& place) {
            return text_of(plan::Place{.gpu = place.gpu, .block = place.block, .step = place.step});
        };
        std::vector<std::string> places{step(verdict.violations.front().place)};
        for (const plan::Place& place : verdict.violations.front().others) places.push_back(step(place));
        return places;
    };
    // The nop no longer waits for the send.
    PlanBuilder race = reduction();
    step_of(race, 0, 2, 0).dep_block = plan::BlockId(1);
    CHECK(found(race, "race") == std::vector<std::string>{"gpu 0, tb 0, step 0", "gpu 0, tb 2, step 1"});
    // The send waits for the sum, that for the nop before it, and the nop for the send.
    PlanBuilder circle = reduction();
    step_of(circle, 1, 2, 1).signals = true;
    step_of(circle, 1, 0, 0).dep_block = plan::BlockId(2);
    step_of(circle, 1, 0, 0).dep_step = plan::StepId(1);
    std::vector<std::string> places = found(circle, "deadlock");
    std::ranges::sort(places);
    CHECK(places ==
          std::vector<std::string>{"gpu 1, tb 0, step 0", "gpu 1, tb 2, step 0", "gpu 1, tb 2, step 1"});
}

TEST_CASE("declared sizes cost nothing") {
    PlanBuilder plan("custom", 2, 2);
    plan.out_of_place();
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        plan.gpu(1'000'000'000, 1'000'000'000, 1'000'000'000)
            .tb(1 - rank, 1 - rank)
            .step("s", "i999999998", "o0", 2)
            .step("r", "i0", "o999999998", 2);
    }
    CHECK(verify::verify(plan).verdict == PlanClass::StructureOnly);
    step_of(plan, 0, 0, 1).count = step_of(plan, 1, 0, 0).count = 1'000'000'000;
    step_of(plan, 0, 0, 1).dst.offset = step_of(plan, 1, 0, 0).src.offset = plan::ChunkOffset(0);
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(verdict.verdict == PlanClass::Malformed);
    CHECK(first_code(verdict) == "too-large");
}
