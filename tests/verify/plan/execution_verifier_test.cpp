#include "tests/support/execution_builder.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

using namespace tutti;
using plan::PlanClass;
using test::ExecutionBuilder;

bool has_code(const std::vector<plan::PlanFinding>& findings, std::string_view code) {
    return std::ranges::any_of(findings, [&](const auto& finding) { return finding.code == code; });
}

/// "valid", "structure-only", or the code of the first violation.
std::string outcome(const plan::ExecutionPlan& plan) {
    const plan::PlanVerdict verdict = verify::verify(plan);
    return verdict.violations.empty() ? std::string(name_of(verdict.verdict)) : verdict.violations[0].code;
}

std::string message(const plan::ExecutionPlan& plan) {
    const plan::PlanVerdict verdict = verify::verify(plan);
    return verdict.violations.empty() ? "" : verdict.violations[0].message;
}

/// Two ranks that put their block into each other's output, in place.
ExecutionBuilder exchange() {
    ExecutionBuilder plan("allgather", 2);
    plan.gpu(1, 2).tb("put o0 -> 1:o0", "nop", "signal 1", "wait 1");
    plan.gpu(1, 2).tb("put o1 -> 0:o1", "nop", "signal 0", "wait 0");
    return plan;
}

/// An all-reduce of two ranks through scratch.
ExecutionBuilder reduction() {
    ExecutionBuilder plan("allreduce", 2);
    plan.gpu(1, 1, 1).tb("put i0 -> 1:s0", "nop", "signal 1", "wait 1", "nop", "re i0, s0 -> i0");
    plan.gpu(1, 1, 1).tb("put i0 -> 0:s0", "nop", "signal 0", "wait 0", "nop", "re i0, s0 -> i0");
    return plan;
}

std::vector<plan::Operation>& ops(ExecutionBuilder& plan, std::size_t gpu, std::size_t block = 0) {
    return plan.plan().gpus[gpu].blocks[block].ops;
}
void drop(ExecutionBuilder& plan, std::size_t gpu, std::size_t op) {
    ops(plan, gpu).erase(ops(plan, gpu).begin() + static_cast<std::ptrdiff_t>(op));
}

/// One rank, thread blocks that are given, a file without postcondition.
std::string alone(const std::vector<std::vector<std::string>>& blocks,
                  std::vector<std::int64_t> semaphores = {}) {
    ExecutionBuilder plan("test", 1);
    plan.out_of_place().gpu(4, 4, 8, std::move(semaphores));
    for (const auto& lines : blocks) plan.add_block(lines);
    return outcome(plan);
}

}  // namespace

TEST_CASE("execution plans that keep every rule are valid") {
    const plan::PlanVerdict verdict = verify::verify(exchange());
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(verdict.warnings.empty());
    CHECK(verdict.format == "mscclpp-json");
    CHECK(verdict.collective == "allgather");
    CHECK(verdict.mode == "in-place");
    CHECK(verdict.steps == 8);
    CHECK(verdict.ranks == 2);
    CHECK(outcome(reduction()) == "valid");
    CHECK(alone({{"copy i0 -> o0"}}) == "structure-only");
}

TEST_CASE("data must be complete before its signal, and the signal come before the data is used") {
    ExecutionBuilder before = reduction(), after = reduction();
    drop(before, 0, 1);
    CHECK(outcome(before) == "race");
    CHECK(message(before).find("gpu 0, tb 0, step 0 (put i[0] -> s[0] of gpu 1)") != std::string::npos);
    drop(after, 0, 4);
    CHECK(outcome(after) == "race");
}

TEST_CASE("a relaxed signal or wait lets go on but orders no memory") {
    for (const auto& [gpu, op, type] : {std::tuple(0, 2, plan::OperationType::RelaxedSignal),
                                        std::tuple(0, 3, plan::OperationType::RelaxedWait)}) {
        ExecutionBuilder plan = reduction();
        ops(plan, static_cast<std::size_t>(gpu))[static_cast<std::size_t>(op)].type = type;
        CHECK(outcome(plan) == "race");
    }
}

TEST_CASE("contributions that are missing or counted twice are reported with their place") {
    ExecutionBuilder missing = reduction(), twice = reduction();
    ops(missing, 1)[5] = missing.operation(1, "re i0 -> i0");
    CHECK(outcome(missing) == "value");
    CHECK(message(missing).find("output chunk 0 of gpu 1") != std::string::npos);
    ops(twice, 1)[5] = twice.operation(1, "re i0, s0, s0 -> i0");
    CHECK(outcome(twice) == "value");
}

TEST_CASE("a wait without signal and waits in a ring are deadlocks, a signal too many is a warning") {
    ExecutionBuilder lacking = exchange();
    drop(lacking, 1, 2);
    const plan::PlanVerdict verdict = verify::verify(lacking);
    CHECK(has_code(verdict.violations, "deadlock"));
    CHECK(has_code(verdict.violations, "signals"));
    CHECK(verdict.violations[0].place.gpu == Rank(0));
    CHECK(verdict.violations[0].place.step == plan::StepId(3));

    ExecutionBuilder ring = exchange();
    for (const std::size_t gpu : {std::size_t{0}, std::size_t{1}})
        std::swap(ops(ring, gpu)[2], ops(ring, gpu)[3]);
    CHECK(outcome(ring) == "deadlock");
    CHECK(message(ring).find("wait for each other") != std::string::npos);

    ExecutionBuilder extra = exchange();
    ops(extra, 0).push_back(extra.operation(0, "signal 1"));
    CHECK(outcome(extra) == "valid");
    CHECK(has_code(verify::verify(extra).warnings, "signals"));
}

TEST_CASE("the n-th channel of a pair of ranks meets the n-th of the other side") {
    const auto plan = [](const char* wait) {
        ExecutionBuilder result("test", 2, 2);
        result.out_of_place().gpu(1, 1, 1).tb("put i0 -> 1:s0", "nop", "signal 1#1");
        result.gpu(1, 1, 1).tb(wait, "nop", "copy s0 -> o0");
        return outcome(result);
    };
    CHECK(plan("wait 0#1") == "structure-only");
    CHECK(plan("wait 0#0") == "deadlock");
}

TEST_CASE("between nops the data operations of a thread block are ordered by equal ranges only") {
    CHECK(alone({{"copy i0 -> s0", "copy s0 -> o0"}}) == "structure-only");
    CHECK(alone({{"copy i0+2 -> s0+2", "copy s0+2 -> o0+2"}}) == "structure-only");
    CHECK(alone({{"copy i0+2 -> s0+2", "copy s1 -> o0"}}) == "race");
    CHECK(alone({{"copy i0+2 -> s0+2", "nop", "copy s1 -> o0"}}) == "structure-only");
}

TEST_CASE("order by equal ranges holds place by place, not for the whole operations") {
    // s[1] is read by another thread than the one that writes it, although each copy waits for the one
    // before.
    CHECK(alone({{"copy s0+2 -> s2+2", "copy s2+2 -> s4+2", "copy s4+2 -> s1+2"}}) == "race");
    CHECK(alone({{"copy s0+2 -> s2+2", "copy s2+2 -> s4+2", "copy s4+2 -> s0+2"}}) == "structure-only");
}

TEST_CASE("operands of one operation must not overlap in part") {
    CHECK(alone({{"copy i0+2 -> i1+2"}}) == "overlap");
    CHECK(alone({{"copy i0+2 -> i2+2"}}) == "structure-only");
    CHECK(alone({{"re i0+2, s0+2 -> i0+2"}}) == "structure-only");
}

TEST_CASE("barriers join the thread blocks that come to them") {
    CHECK(alone({{"copy i0 -> s0", "barrier 0 2"}, {"barrier 0 2", "copy s0 -> o0"}}) == "structure-only");
    CHECK(alone({{"copy i0 -> s0"}, {"copy s0 -> o0"}}) == "race");
    CHECK(alone({{"barrier 0 2"}, {"nop"}}) == "barrier");
    CHECK(alone({{"barrier 0 2", "barrier 0 2"}, {"barrier 0 2"}}) == "barrier");
    CHECK(alone({{"barrier 0 2", "barrier 1 2"}, {"barrier 1 2", "barrier 0 2"}}) == "deadlock");
    CHECK(alone({{"copy i0+2 -> s0+2", "barrier 3 1", "copy s1 -> o0"}}) == "structure-only");
}

TEST_CASE("semaphores order what releases them before what acquires them") {
    CHECK(alone({{"copy i0 -> s0", "nop", "release 0"}, {"acquire 0", "nop", "copy s0 -> o0"}}, {0}) ==
          "structure-only");
    // The initial value already lets the acquire go on.
    CHECK(alone({{"copy i0 -> s0", "nop", "release 0"}, {"acquire 0", "nop", "copy s0 -> o0"}}, {1}) ==
          "race");
    CHECK(alone({{"copy i0 -> s0", "nop", "release 0"}, {"acquire 0", "acquire 0", "nop", "copy s0 -> o0"}},
                {1}) == "structure-only");
    CHECK(alone({{"acquire 0"}}, {0}) == "deadlock");
    CHECK(alone({{"acquire 1"}}, {0}) == "semaphore");
}

TEST_CASE("an acquire comes after all of several releases only if it needs them all") {
    const std::vector<std::string> one{"copy i0 -> s0", "nop", "release 0"},
        other{"copy i1 -> s1", "nop", "release 0"};
    CHECK(alone({one, other, {"acquire 0", "acquire 0", "nop", "copy s0+2 -> o0+2"}}, {0}) ==
          "structure-only");
    CHECK(alone({one, other, {"acquire 0", "nop", "copy s0 -> o0", "nop", "acquire 0"}}, {0}) == "race");
    CHECK(alone({one, other, {"acquire 0", "nop", "copy s0 -> o0"}, {"acquire 0"}}, {0}) == "race");
}

TEST_CASE("thread blocks that compete for semaphores are tried in every order") {
    // A lock: whoever comes first, both end.
    CHECK(alone({{"acquire 0", "release 0"}, {"acquire 0", "release 0"}}, {1}) == "structure-only");
    // Two locks taken in opposite order.
    CHECK(alone({{"acquire 0", "acquire 1", "release 0,1"}, {"acquire 1", "acquire 0", "release 0,1"}},
                {1, 1}) == "deadlock");
    CHECK(alone({{"acquire 0", "acquire 1", "release 0,1"}, {"acquire 0", "acquire 1", "release 0,1"}},
                {1, 1}) == "structure-only");
    // Taken together by two threads each, they are taken in any order.
    CHECK(alone({{"acquire 0,1", "release 0,1"}, {"acquire 0,1", "release 0,1"}}, {1, 1}) == "deadlock");
    // The second token comes only after the other one has gone on.
    CHECK(alone({{"acquire 0"}, {"acquire 0", "release 0"}}, {1}) == "deadlock");
}

TEST_CASE("packets wait for their data, and order it place by place") {
    CHECK(alone({{"cpkt i0 -> s0"}, {"upkt s0 -> o0"}}) == "structure-only");
    CHECK(alone({{"upkt s0 -> o0"}}) == "deadlock");
    // Packets and plain data of scratch are different memories.
    CHECK(alone({{"copy i0 -> s0"}, {"upkt s0 -> o0"}}) == "deadlock");
    CHECK(alone({{"cpkt i0+2 -> s0+2"}, {"upkt s0+2 -> o0+2", "nop", "copy o2+2 -> i0+2"}}) ==
          "structure-only");
    // Having seen one of two packets says nothing about the other one's source.
    CHECK(alone({{"cpkt i0+2 -> s0+2"}, {"upkt s0 -> o0", "nop", "copy o2+2 -> i0+2"}}) == "race");
    CHECK(alone({{"cpkt i0+2 -> s0+2"}, {"upkt s0 -> o0", "nop", "copy o2 -> i0"}}) == "structure-only");
}

TEST_CASE("a packet is written once, or again with the same value") {
    CHECK(alone({{"cpkt i0 -> s0"}, {"cpkt i0 -> s0"}, {"upkt s0 -> o0"}}) == "structure-only");
    CHECK(alone({{"cpkt i0 -> s0"}, {"cpkt i1 -> s0"}, {"upkt s0 -> o0"}}) == "packet");
    // Which of the two writers a reader saw is not known, so it knows nothing of the first one's source.
    CHECK(alone({{"copy i0 -> s5", "nop", "release 0", "cpkt i0 -> s0"},
                 {"acquire 0", "nop", "cpkt s5 -> s0"},
                 {"upkt s0 -> o0", "nop", "copy i1 -> i0"}},
                {0}) == "race");
    CHECK(alone({{"cpkt i0 -> s0", "cpkt i0 -> s0"}, {"upkt s0 -> o0"}}) == "structure-only");
}

TEST_CASE("the first of several writers of a packet is found by the order between them") {
    // The second write comes after the first one, so a reader is after the first one in any case.
    CHECK(alone({{"cpkt i0 -> s0", "nop", "cpkt i1 -> s0"}}) == "packet");
    ExecutionBuilder plan("allgather", 2);
    plan.gpu(1, 2, 2).tb("cpkt o0 -> s0", "gstorepkt s0 -> *:s0", "upkt s0 -> o0").tb("upkt s1 -> o1");
    plan.gpu(1, 2, 2).tb("cpkt o1 -> s1", "gstorepkt s1 -> *:s1", "upkt s1 -> o1").tb("upkt s0 -> o0");
    CHECK(outcome(plan) == "valid");
}

/// Gpu 0 sends i0 to gpu 1 through packets; `lines` does the sending, in one block or in two.
std::string packets_sent(const std::vector<std::vector<std::string>>& blocks) {
    ExecutionBuilder plan("test", 2);
    plan.out_of_place().gpu(2, 2, 4, {0});
    for (const auto& lines : blocks) plan.add_block(lines);
    plan.gpu(2, 2, 4).tb("upkt s0 -> o0");
    return outcome(plan);
}

TEST_CASE("ppkt on a port channel copies packets, not plain data") {
    CHECK(packets_sent({{"cpkt i0 -> s1", "nop", "ppkt port s1 -> 1:s0"}}) == "structure-only");
    // On a memory channel its threads make the packets themselves.
    CHECK(packets_sent({{"copy i0 -> s1", "nop", "ppkt s1 -> 1:s0"}}) == "structure-only");
    CHECK(packets_sent({{"copy i0 -> s1", "nop", "ppkt port s1 -> 1:s0"}}) == "deadlock");
    CHECK(packets_sent({{"ppkt port i0 -> 1:s0"}}) == "buffer");
    // What arrives is what was packed.
    ExecutionBuilder plan("allgather", 2);
    plan.gpu(1, 2, 2).tb("cpkt o0 -> s0", "nop", "ppkt port s0 -> 1:s1").tb("upkt s1 -> o1");
    plan.gpu(1, 2, 2).tb("cpkt o1 -> s0", "nop", "ppkt port s0 -> 0:s1").tb("upkt s1 -> o0");
    CHECK(outcome(plan) == "valid");
}

TEST_CASE("ppkt on a port channel does not wait for its packets: something else must order them") {
    CHECK(packets_sent({{"cpkt i0 -> s1", "ppkt port s1 -> 1:s0"}}) == "race");
    CHECK(packets_sent({{"cpkt i0 -> s1"}, {"ppkt port s1 -> 1:s0"}}) == "race");
    CHECK(packets_sent({{"cpkt i0 -> s1", "barrier 0 2"}, {"barrier 0 2", "ppkt port s1 -> 1:s0"}}) ==
          "structure-only");
    CHECK(packets_sent({{"cpkt i0 -> s1", "nop", "release 0"}, {"acquire 0", "ppkt port s1 -> 1:s0"}}) ==
          "structure-only");
    // Who has read a packet knows that it is there.
    CHECK(packets_sent({{"cpkt i0 -> s1"}, {"upkt s1 -> o1", "nop", "ppkt port s1 -> 1:s0"}}) ==
          "structure-only");
    // One write before it is enough, as all write the same.
    CHECK(packets_sent({{"cpkt i0 -> s1", "nop", "ppkt port s1 -> 1:s0"}, {"cpkt i0 -> s1"}}) ==
          "structure-only");
    CHECK(packets_sent({{"ppkt port s1 -> 1:s0", "nop", "cpkt i0 -> s1"}}) == "deadlock");
}

TEST_CASE("rppkt on a port channel synchronises the threads of its block once the packets are there") {
    CHECK(packets_sent({{"cpkt i0 -> s1", "rppkt port s1 -> 1:s0"}}) == "structure-only");
    // The copy is by other threads than the read of o1, but not across the operation between them.
    CHECK(packets_sent({{"cpkt i0 -> s1", "copy i0+2 -> o0+2", "rppkt port s1 -> 1:s0", "copy o1 -> s2"}}) ==
          "structure-only");
    CHECK(packets_sent({{"cpkt i0 -> s1", "copy i0+2 -> o0+2", "rppkt s1 -> 1:s0", "copy o1 -> s2"}}) ==
          "race");
}

TEST_CASE("thread block groups share ranges by their parts") {
    const std::vector<std::string> copy0{"copy i0 -> s0 part 0/2", "nop", "release 0"},
        copy1{"copy i0 -> s0 part 1/2", "nop", "release 1"};
    CHECK(alone({copy0, copy1, {"acquire 0,1", "nop", "copy s0 -> o0"}}, {0, 0}) == "structure-only");
    CHECK(alone({copy0, copy1, {"acquire 0", "nop", "copy s0 -> o0"}}, {0, 0}) == "race");
    CHECK(alone({copy0, copy1, {"acquire 0", "nop", "copy s0 -> o0 part 0/2"}}, {0, 0}) == "structure-only");
    // Halves of one chunk and of two chunks are not the same halves.
    CHECK(alone({{"copy i0+2 -> s0+2 part 0/2", "nop", "release 0"}, {"acquire 0", "nop", "copy s0 -> o0"}},
                {0}) == "structure-only");
    CHECK(alone({{"copy i0+2 -> s0+2 part 0/2"}, {"copy s0 -> o0 part 1/2"}}) == "race");
    CHECK(alone({{"copy i0+2 -> s0+2 part 0/2"}, {"copy s1 -> o0 part 1/2"}}) == "structure-only");
    CHECK(alone({{"copy i0 -> s0 part 2/2"}}) == "tbg");
    ExecutionBuilder plan = reduction();
    ops(plan, 0)[5].slice = plan::GroupSlice{0, 3};
    CHECK(outcome(plan) == "value");
}

TEST_CASE("groups of a switch are read and written as a whole") {
    const auto plan = [](const char* op) {
        ExecutionBuilder result("allreduce", 2);
        result.gpu(2, 2).tb("signal 1", "wait 1", "nop", op, "nop", "signal 1", "wait 1");
        result.gpu(2, 2).tb("signal 0", "wait 0", "nop", "glres *:i1 -> *:i1", "nop", "signal 0", "wait 0");
        return result;
    };
    CHECK(outcome(plan("glres *:i0 -> *:i0")) == "valid");
    CHECK(outcome(plan("glres *:i1 -> *:i1")) == "race");
    CHECK(outcome(plan("gstore i0 -> *:i0")) == "value");
    CHECK(outcome(plan("glre *:i0 -> i0")) == "value");
}

TEST_CASE("ports keep the order of their operations") {
    ExecutionBuilder plan("allgather", 2);
    plan.gpu(1, 2).tb("put port o0 -> 1:o0", "signal port 1", "wait port 1");
    plan.gpu(1, 2).tb("pws o1 -> 0:o1", "wait port 0");
    CHECK(outcome(plan) == "valid");
    // A put by the threads is not in that order.
    ops(plan, 0)[0] = plan.operation(0, "put o0 -> 1:o0");
    ops(plan, 1).push_back(plan.operation(1, "nop"));
    ops(plan, 1).push_back(plan.operation(1, "put o0 -> 0:o0"));
    CHECK(outcome(plan) == "race");
}

TEST_CASE("input and output are placed as the collective requires, in place and out of place") {
    ExecutionBuilder in_place("reducescatter", 2);
    in_place.gpu(2, 1).tb("signal 1", "wait 1", "nop", "rre i0, 1:i0 -> o0", "nop", "signal 1", "wait 1");
    in_place.gpu(2, 1).tb("signal 0", "wait 0", "nop", "rre i1, 0:i1 -> o0", "nop", "signal 0", "wait 0");
    CHECK(outcome(in_place) == "valid");
    ops(in_place, 1)[3] = in_place.operation(1, "rre i1, 0:i1 -> i1");
    CHECK(outcome(in_place) == "valid");
    in_place.plan().in_place = false;
    CHECK(outcome(in_place) == "value");

    ExecutionBuilder all_to_all("alltoall", 2);
    all_to_all.out_of_place();
    all_to_all.gpu(2, 2).tb("copy i0 -> o0", "put i1 -> 1:o0", "nop", "signal 1", "wait 1");
    all_to_all.gpu(2, 2).tb("copy i1 -> o1", "put i0 -> 0:o1", "nop", "signal 0", "wait 0");
    CHECK(outcome(all_to_all) == "valid");

    ExecutionBuilder ring("sendrecv", 3);
    ring.out_of_place();
    ring.gpu(1, 1).tb("put i0 -> 1:o0", "nop", "signal 1", "wait 2");
    ring.gpu(1, 1).tb("put i0 -> 2:o0", "nop", "signal 2", "wait 0");
    ring.gpu(1, 1).tb("put i0 -> 0:o0", "nop", "signal 0", "wait 1");
    CHECK(outcome(ring) == "valid");
    ops(ring, 0)[0] = ring.operation(0, "nop");
    CHECK(outcome(ring) == "value");
}

/// Rank r puts its input into the output of rank to[r].
ExecutionBuilder sends_to(const std::vector<int>& to) {
    ExecutionBuilder plan("sendrecv", static_cast<std::int32_t>(to.size()));
    plan.out_of_place();
    for (std::size_t r = 0; r < to.size(); ++r) {
        const std::string next = std::to_string(to[r]);
        std::string before = next;
        for (std::size_t s = 0; s < to.size(); ++s) {
            if (to[s] == static_cast<int>(r)) before = std::to_string(s);
        }
        plan.gpu(2, 2).tb("put i0+2 -> " + next + ":o0+2", "nop", "signal " + next, "wait " + before);
    }
    return plan;
}

TEST_CASE("a sendrecv by a rule that the file does not state is not judged as one from the rank before") {
    CHECK(outcome(sends_to({1, 2, 3, 0})) == "valid");
    // By a mask of ranks: to the same place of the next group.
    const ExecutionBuilder by_mask = sends_to({2, 3, 0, 1});
    CHECK(outcome(by_mask) == "structure-only");
    const plan::PlanVerdict verdict = verify::verify(by_mask);
    CHECK(verdict.collective == "sendrecv, between ranks that the file does not state");
    REQUIRE(verdict.warnings.size() == 1);
    CHECK(verdict.warnings[0].code == "collective");
    CHECK(verdict.warnings[0].message.find("rank 0 that of rank 2") != std::string::npos);
    // With --as, sendrecv is from the rank before.
    verify::PlanReading reading;
    reading.goal = CollectiveKind::SendRecv;
    CHECK(verify::verify(by_mask, reading).verdict == PlanClass::Invalid);
}

TEST_CASE("a sendrecv that is right by no rule is wrong") {
    // Rank 1 sends its chunks in the wrong order.
    ExecutionBuilder mixed = sends_to({2, 3, 0, 1});
    ops(mixed, 1)[0] = mixed.operation(1, "put i1, i0 -> 3:o0, 3:o1");
    CHECK(outcome(mixed) == "value");
    // No rank sends to rank 1.
    ExecutionBuilder lacks = sends_to({2, 3, 0, 1});
    ops(lacks, 3)[0] = lacks.operation(3, "nop");
    CHECK(outcome(lacks) == "value");
    // A rank's own input is not received.
    ExecutionBuilder own("sendrecv", 2);
    own.out_of_place().gpu(1, 1).tb("copy i0 -> o0");
    own.gpu(1, 1).tb("copy i0 -> o0");
    CHECK(outcome(own) == "value");
}

TEST_CASE("sizes that do not fit the collective are reported") {
    ExecutionBuilder plan = exchange();
    plan.plan().gpus[1].output_chunks = 3;
    CHECK(outcome(plan) == "chunks");
    plan.plan().gpus[0].output_chunks = 3;
    CHECK(outcome(plan) == "chunks");
    plan = exchange();
    for (auto& gpu : plan.plan().gpus) gpu.input_chunks = 0;
    CHECK(outcome(plan) == "valid");  // in place it follows from the output
}

TEST_CASE("dangling ids are reported with their codes") {
    const auto broken = [](auto change) {
        ExecutionBuilder plan = exchange();
        change(plan.plan());
        return outcome(plan);
    };
    using Plan = plan::ExecutionPlan;
    CHECK(broken([](Plan& plan) { plan.gpus[1].id = Rank(2); }) == "gpu-id");
    CHECK(broken([](Plan& plan) { plan.gpus.clear(); }) == "gpu-id");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].id = plan::BlockId(1); }) == "tb-id");
    CHECK(broken([](Plan& plan) { plan.gpus[1].channels[0].peers[0] = Rank(7); }) == "channel");
    CHECK(broken([](Plan& plan) { plan.gpus[1].channels[0].peers[0] = Rank(1); }) == "channel");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].channels[0].ids[0] = plan::ChannelId(5); }) ==
          "channel");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].ops[2].channels[0] = plan::Slot(5); }) == "channel");
    CHECK(broken([](Plan& plan) {
              plan.gpus[1].blocks[0].ops[2].channel_type = plan::ChannelType::Switch;
          }) == "channel");
    CHECK(broken([](Plan& plan) { plan.gpus[1].channels[2].groups[0].ranks[0] = Rank(9); }) == "channel");
    CHECK(broken([](Plan& plan) { plan.gpus[1].remote_buffers[0].rank = Rank(9); }) == "buffer");
    CHECK(broken([](Plan& plan) { plan.gpus[1].remote_buffers[1].access.clear(); }) == "buffer");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].ops[0].dst[0].id = plan::Slot(40); }) == "buffer");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].ops[0].dst[0].index = 2; }) == "range");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].ops[0].dst[0].index = 0xFFFFFFFF; }) == "range");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].ops[0].dst[0].size = 2; }) == "size");
    CHECK(broken([](Plan& plan) { plan.gpus[1].blocks[0].ops[0].dst.clear(); }) == "operands");
    CHECK(broken([](Plan& plan) {
              plan.gpus[1].blocks[0].ops[0].dst[0].kind = plan::Operand::Kind::Local;
          }) == "operands");
    CHECK(broken([](Plan& plan) { plan.min_bytes = 2, plan.max_bytes = 1; }) == "size-range");
}

TEST_CASE("a port channel and the buffer that is written through it belong to the same gpu") {
    ExecutionBuilder plan("test", 3);
    plan.out_of_place().gpu(1, 1, 1).tb("put port i0 -> 1:s0");
    plan.gpu(1, 1, 1).gpu(1, 1, 1);
    CHECK(outcome(plan) == "structure-only");
    ops(plan, 0)[0].channels[0] = plan::Slot(1);
    CHECK(outcome(plan) == "channel");
}

TEST_CASE("sums and maxima do not mix") {
    ExecutionBuilder plan = reduction();
    ops(plan, 0)[5].reduce = plan::ReduceOp::Max;
    CHECK(outcome(plan) == "reduce-op");
    ops(plan, 1)[5].reduce = plan::ReduceOp::Max;
    CHECK(outcome(plan) == "valid");
}

TEST_CASE("an output that another rank still writes when the call returns is a warning") {
    ExecutionBuilder plan = exchange();
    CHECK_FALSE(has_code(verify::verify(plan).warnings, "unfinished"));
    drop(plan, 0, 3);
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(has_code(verdict.warnings, "unfinished"));
}

TEST_CASE("a plan can be judged as another collective, and rooted ones find their root") {
    ExecutionBuilder plan("test", 2);
    plan.out_of_place().gpu(1, 1).tb("wait 1");
    plan.gpu(1, 1).tb("copy i0 -> o0", "put i0 -> 0:o0", "nop", "signal 0");
    verify::PlanReading reading;
    reading.goal = CollectiveKind::Broadcast;
    const plan::PlanVerdict verdict = verify::verify(plan, reading);
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(verdict.root == Rank(1));
    reading.root = Rank(0);
    CHECK(verify::verify(plan, reading).verdict == PlanClass::Invalid);
}

TEST_CASE("what the executor would do otherwise is a warning for that target only") {
    const auto warned = [](const ExecutionBuilder& plan,
                           std::optional<plan::Target> target = plan::Target::Mscclpp) {
        verify::PlanReading reading;
        reading.target = target;
        reading.max_findings = 1000;
        std::string codes;
        for (const auto& finding : verify::verify(plan, reading).warnings) {
            if (codes.find(finding.code) == std::string::npos) codes += finding.code + " ";
        }
        return codes;
    };
    const auto one = [](const char* line) {
        ExecutionBuilder plan("test", 2, 9);
        plan.out_of_place().gpu(4, 4, 4, std::vector<std::int64_t>(20, 1)).tb(line);
        plan.gpu(4, 4, 4);
        return plan;
    };
    CHECK(warned(one("get 1:i0 -> o0")) == "");
    CHECK(warned(one("get 1:i0 -> o1")) == "target-get ");
    CHECK(warned(one("get 1:i0 -> o1"), std::nullopt) == "");
    CHECK(warned(one("flush port 1")) == "target-flush ");
    CHECK(warned(one("glre *:i0 -> o0")) == "target-op ");
    CHECK(warned(one("put i0, o0 -> 1:s0, 1:s1")) == "target-put ");
    CHECK(warned(one("put i0, i1 -> 1:s0, 1:s1")) == "");
    CHECK(warned(one("acquire 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16")) == "limit-semaphores ");
    CHECK(warned(one("barrier 16 1")) == "limit-barriers ");
    ExecutionBuilder many = one("nop");
    for (int i = 0; i < 64; ++i) ops(many, 0).push_back(many.operation(0, "nop"));
    CHECK(warned(many) == "limit-ops ");
    ExecutionBuilder largest = one("copy i0 -> o0");
    ops(largest, 0)[0] = largest.operation(0, "nop");
    largest.plan().gpus[0].blocks[0].channels[0].ids.assign(17, plan::ChannelId(0));
    CHECK(warned(largest) == "limit-channels ");
}

TEST_CASE("huge sizes are cheap where little is touched, and refused where too much is") {
    ExecutionBuilder plan("test", 1);
    plan.out_of_place().gpu(0xFFFFFFFF, 0xFFFFFFFF).tb("copy i0 -> o4294967294");
    CHECK(outcome(plan) == "structure-only");
    ops(plan, 0)[0] = plan.operation(0, "copy i0+4294967295 -> o0+4294967295");
    const plan::PlanVerdict verdict = verify::verify(plan);
    CHECK(verdict.verdict == PlanClass::Malformed);
    CHECK(verdict.violations[0].code == "too-large");
}
