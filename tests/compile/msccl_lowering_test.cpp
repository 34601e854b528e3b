// What plans look like: step types, bursts, channels, dependencies, limits.

#include "compile/msccl_lowering.hpp"
#include "core/generators/full.hpp"
#include "core/generators/ring.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plan_ids.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tutti;
using namespace tutti::compile;
using plan::StepType;
using test::copy;
using test::reduce;

std::vector<std::string> types_of(const plan::ThreadBlock& block) {
    std::vector<std::string> types;
    for (const plan::Step& step : block.steps) types.emplace_back(name_of(step.type));
    return types;
}

using Types = std::vector<std::string>;

const plan::ThreadBlock& block_between(const plan::Gpu& gpu, int recv, int send) {
    for (const plan::ThreadBlock& block : gpu.blocks) {
        if (test::number(block.recv_peer) == recv && test::number(block.send_peer) == send) return block;
    }
    FAIL("no such thread block");
    return gpu.blocks.front();
}

/// Four NPUs, links i -> i+1 only.
test::Net one_way_ring() { return test::Net(4).link(0, 1).link(1, 2).link(2, 3).link(3, 0); }

/// Every chunk c of a ring travels round it from NPU first(c) on.
Schedule around(Op op) {
    std::vector<Send> sends;
    for (std::size_t tick = 0; tick < 3; ++tick) {
        for (std::size_t chunk = 0; chunk < 4; ++chunk) {
            // Copies start at their owner, sums end there.
            const std::size_t from = (chunk + tick + (op == Op::Reduce ? 1 : 0)) % 4;
            sends.push_back({ChunkId(chunk), LinkId(from), Ticks(static_cast<std::int64_t>(tick)), op});
        }
    }
    return test::schedule(3, sends);
}

plan::PlanClass judged(const MscclResult& result) {
    verify::PlanReading reading;
    reading.root = result.root;
    reading.condition = result.condition;
    return verify::verify(result.plan, reading).verdict;
}

plan::MscclPlan lowered(const Instance& instance, const Schedule& schedule, const MscclOptions& options = {},
                        MscclEffort effort = MscclEffort::Fused) {
    MscclResult result = lower_to_msccl(instance, schedule, CollectiveId(0), options, effort);
    CHECK(judged(result) == plan::PlanClass::Valid);
    return std::move(result.plan);
}

}  // namespace

TEST_CASE("a ring all-gather sends, hands on and receives in one thread block") {
    const Instance instance = test::on_all(one_way_ring(), {test::collective(CollectiveKind::AllGather)});
    const plan::MscclPlan plan = lowered(instance, around(Op::Copy));
    CHECK(plan.channels == 1);
    CHECK(plan.collective == "allgather");
    for (const plan::Gpu& gpu : plan.gpus) {
        REQUIRE(gpu.blocks.size() == 2);
        CHECK(types_of(block_between(gpu, (test::number(gpu.id) + 3) % 4, (test::number(gpu.id) + 1) % 4)) ==
              Types{"s", "rcs", "rcs", "r"});
        CHECK(types_of(block_between(gpu, -1, -1)) == Types{"cpy"});
        CHECK(gpu.scratch_chunks == 0);
    }
}

TEST_CASE("a ring reduce-scatter stores no sum that it only hands on") {
    const Instance instance = test::on_all(one_way_ring(), {test::collective(CollectiveKind::ReduceScatter)});
    const plan::MscclPlan plan = lowered(instance, around(Op::Reduce));
    for (const plan::Gpu& gpu : plan.gpus) {
        REQUIRE(gpu.blocks.size() == 1);
        CHECK(types_of(gpu.blocks.front()) == Types{"s", "rrs", "rrs", "rrc"});
        CHECK(gpu.scratch_chunks == 0);
        CHECK(gpu.blocks.front().steps.back().dst ==
              plan::Address{plan::Buffer::Output, plan::ChunkOffset(0)});
    }
    // Unfused, the sums need a place.
    const plan::MscclPlan plain = lowered(instance, around(Op::Reduce), {}, MscclEffort::Plain);
    CHECK(plain.gpus[0].scratch_chunks == 2);
    CHECK(plain.gpus[0].blocks.size() == 2);
}

TEST_CASE("each runtime's name for a reduce-scatter is written") {
    const Instance instance = test::on_all(one_way_ring(), {test::collective(CollectiveKind::ReduceScatter)});
    CHECK(lowered(instance, around(Op::Reduce), {.target = plan::Target::Msccl}).collective ==
          "reduce_scatter");
    CHECK(lowered(instance, around(Op::Reduce), {.target = plan::Target::Rccl}).collective ==
          "reducescatter");
}

TEST_CASE("sizes and modes are always written") {
    const Instance instance = test::on_all(one_way_ring(), {test::collective(CollectiveKind::AllGather)});
    const plan::MscclPlan plan = lowered(instance, around(Op::Copy), {.target = plan::Target::MscclExecutor});
    CHECK(plan.min_bytes == 0);
    CHECK(plan.max_bytes == 0);
    CHECK(plan.in_place == true);
    CHECK(plan.out_of_place == true);
    // The first runtime would take 0 at its word.
    const plan::MscclPlan old =
        lowered(instance, around(Op::Copy), {.target = plan::Target::Msccl, .min_bytes = 4096});
    CHECK(old.min_bytes == 4096);
    CHECK(old.max_bytes == 1 << 27);
}

TEST_CASE("neighbouring chunks of a burst go in one step, in whatever order they were sent") {
    auto broadcast = test::collective(CollectiveKind::Broadcast);
    broadcast.chunks = 4;
    broadcast.root = Rank(0);
    const Instance instance = test::on_all(test::Net(2).link(0, 1), {broadcast});
    const Schedule schedule = test::schedule(4, {copy(2, 0, 0), copy(0, 0, 1), copy(3, 0, 2), copy(1, 0, 3)});
    const plan::MscclPlan plan = lowered(instance, schedule);
    const plan::ThreadBlock& sender = block_between(plan.gpus[0], -1, 1);
    REQUIRE(sender.steps.size() == 1);
    CHECK(sender.steps[0].count == 4);
    const plan::MscclPlan plain = lowered(instance, schedule, {}, MscclEffort::Plain);
    CHECK(block_between(plain.gpus[0], -1, 1).steps.size() == 4);
}

TEST_CASE("a burst does not hold back what its receiver hands on at once") {
    auto broadcast = test::collective(CollectiveKind::Broadcast);
    broadcast.chunks = 2;
    broadcast.root = Rank(0);
    const Instance instance = test::on_all(test::Net(3).link(0, 1).link(1, 2), {broadcast});
    const plan::MscclPlan plan =
        lowered(instance, test::schedule(3, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 1, 1), copy(1, 1, 2)}));
    CHECK(types_of(block_between(plan.gpus[1], 0, 2)) == Types{"rcs", "rcs"});
    CHECK(types_of(block_between(plan.gpus[0], -1, 1)) == Types{"s", "s"});
}

TEST_CASE("parallel links are different channels") {
    auto broadcast = test::collective(CollectiveKind::Broadcast);
    broadcast.chunks = 2;
    broadcast.root = Rank(0);
    const Instance instance = test::on_all(test::Net(2).link(0, 1).link(0, 1), {broadcast});
    const plan::MscclPlan plan = lowered(instance, test::schedule(1, {copy(0, 0, 0), copy(1, 1, 0)}));
    CHECK(plan.channels == 2);
    CHECK(plan.gpus[1].blocks.size() == 2);
}

TEST_CASE("a message that overtakes another has a connection of its own") {
    // Chunk 0 waits in the switch until chunk 1 has passed.
    const Instance instance = test::on_all(test::star(2, {}), {[] {
                                               auto two = test::custom({0}, {1});
                                               two.demands.push_back(two.demands.front());
                                               return two;
                                           }()});
    const MscclOptions options{.target = plan::Target::Msccl};
    const plan::MscclPlan plan = lowered(
        instance, test::schedule(4, {copy(0, 0, 0), copy(1, 0, 1), copy(1, 3, 2), copy(0, 3, 3)}), options);
    CHECK(plan.channels == 2);
}

TEST_CASE("further dependencies are put on nops before the step, which keeps one itself") {
    // NPU 2 gets two contributions and sends the sum on: the send waits for the sum, which waits for both.
    auto sum = test::custom({0, 1, 2}, {3}, true);
    const Instance instance = test::on_all(test::Net(4).link(0, 2).link(1, 2).link(2, 3), {sum});
    const plan::MscclPlan plan =
        lowered(instance, test::schedule(3, {reduce(0, 0, 0), reduce(0, 1, 1), reduce(0, 2, 2)}),
                {.target = plan::Target::Msccl}, MscclEffort::Plain);
    const plan::Gpu& gpu = plan.gpus[2];
    const plan::ThreadBlock& second = block_between(gpu, 1, -1);
    const plan::ThreadBlock& first = block_between(gpu, 0, -1);
    CHECK(second.steps[0].dep_block == first.id);
    CHECK(first.steps[0].signals);
    // The send waits for the second sum only: that one has waited for the first.
    const plan::ThreadBlock& sender = block_between(gpu, -1, 3);
    REQUIRE(sender.steps.size() == 1);
    CHECK(sender.steps[0].dep_block == second.id);

    // Two chunks from two NPUs that leave as one burst: one nop.
    auto two = test::custom({0}, {2, 3});
    two.demands.push_back(test::custom({1}, {2, 3}).demands.front());
    const Instance both = test::on_all(test::Net(4).link(0, 2).link(1, 2).link(2, 3), {two});
    const plan::MscclPlan burst =
        lowered(both, test::schedule(4, {copy(0, 0, 0), copy(1, 1, 0), copy(0, 2, 2), copy(1, 2, 3)}),
                {.target = plan::Target::Msccl}, MscclEffort::Merged);
    const plan::ThreadBlock& joint = block_between(burst.gpus[2], -1, 3);
    CHECK(types_of(joint) == Types{"nop", "s"});
    CHECK(joint.steps[0].dep_block.has_value());
    CHECK(joint.steps[1].dep_block.has_value());
    CHECK(joint.steps[0].dep_block != joint.steps[1].dep_block);
}

TEST_CASE("an in-place exchange waits until the place was read") {
    // Both send their contribution, then the sums overwrite it.
    auto all_reduce = test::collective(CollectiveKind::AllReduce);
    const Instance instance = test::on_all(test::Net(2).both(0, 1), {all_reduce});
    const Schedule schedule =
        test::schedule(2, {reduce(0, 0, 0), reduce(0, 1, 0), reduce(1, 0, 1), reduce(1, 1, 1)});
    const plan::MscclPlan both = lowered(instance, schedule, {}, MscclEffort::Plain);
    CHECK(block_between(both.gpus[0], 1, -1).steps[0].dep_block == block_between(both.gpus[0], -1, 1).id);
    // Out of place nothing is overwritten.
    const plan::MscclPlan out = lowered(instance, schedule, {.in_place = false}, MscclEffort::Plain);
    CHECK(block_between(out.gpus[0], 1, -1).steps[0].dep_block == std::nullopt);
}

TEST_CASE("an all-to-all that would overwrite what it still sends is for out-of-place calls only") {
    auto exchange = test::collective(CollectiveKind::AllToAll);
    const Instance instance = test::on_all(test::Net(2).both(0, 1), {exchange});
    // NPU 1 answers only after it has been written to.
    const Schedule late = test::schedule(2, {copy(0, 0, 0), copy(1, 1, 1)});
    const auto result = first_valid_msccl(instance, late, CollectiveId(0), {}, judged);
    REQUIRE(result);
    CHECK(result->plan.in_place == false);
    CHECK_FALSE(first_valid_msccl(instance, late, CollectiveId(0), {.out_of_place = false}, judged));
    const Schedule prompt = test::schedule(1, {copy(0, 0, 0), copy(1, 1, 0)});
    CHECK(first_valid_msccl(instance, prompt, CollectiveId(0), {}, judged)->plan.in_place == true);
}

TEST_CASE("the lowering raises its effort until the FIFOs suffice") {
    std::vector<MscclEffort> tried;
    const Instance instance = test::on_all(one_way_ring(), {test::collective(CollectiveKind::AllGather)});
    const auto never = [&](const MscclResult& result) {
        tried.push_back(result.effort);
        return plan::PlanClass::ValidIfBuffered;
    };
    CHECK_FALSE(first_valid_msccl(instance, around(Op::Copy), CollectiveId(0), {.in_place = false}, never));
    CHECK(tried ==
          std::vector{MscclEffort::Fused, MscclEffort::Merged, MscclEffort::Short, MscclEffort::Plain});
}

TEST_CASE("a thread block that would be too long is split over channels") {
    auto broadcast = test::collective(CollectiveKind::Broadcast);
    broadcast.chunks = 150;
    broadcast.root = Rank(0);
    const Instance instance = test::on_all(test::Net(3).link(0, 1).link(1, 2), {broadcast});
    std::vector<Send> sends;
    for (std::size_t c = 0; c < 150; ++c) {
        sends.push_back(copy(c, 0, static_cast<std::int64_t>(c)));
        sends.push_back(copy(c, 1, static_cast<std::int64_t>(c + 1)));
    }
    const Schedule schedule = test::schedule(151, sends);
    const plan::MscclPlan executor = lowered(instance, schedule);
    CHECK(executor.channels == 3);
    for (const plan::Gpu& gpu : executor.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) CHECK(block.steps.size() <= 64);
    }
    CHECK(lowered(instance, schedule, {.target = plan::Target::Msccl}).channels == 1);
}

TEST_CASE("what the limits forbid is refused with limit and need") {
    // 40 chunks to each of 70 peers, each from another place: no bursts, and RCCL has 64 thread blocks.
    const Wire wire{Ticks(0), Ticks(1), {}};
    Group all{"all", {}};
    for (std::size_t n = 0; n < 70; ++n) all.members.emplace_back(n);
    const Instance instance({"wide",
                             generators::fully_connected(70, wire),
                             {all},
                             {test::collective(CollectiveKind::AllGather)}});
    std::vector<Send> sends;
    for (std::size_t l = 0; l < instance.topology().links().size(); ++l) {
        sends.push_back(copy(instance.topology().link(LinkId(l)).src.value(), l, 0));
    }
    const Schedule schedule = test::schedule(1, sends);
    CHECK_THROWS_WITH_AS((void)lowered(instance, schedule, {.target = plan::Target::Rccl}),
                         doctest::Contains("thread blocks on rank 0; rccl has room for 64"), InputError);
    CHECK(lowered(instance, schedule, {.target = plan::Target::MscclExecutor}).gpus.size() == 70);

    auto large = test::collective(CollectiveKind::Broadcast);
    large.chunks = 40'000;
    large.root = Rank(0);
    const Instance many = test::on_all(test::Net(2).link(0, 1), {large});
    std::vector<Send> one_by_one;
    for (std::size_t c = 0; c < 40'000; ++c) one_by_one.push_back(copy(c, 0, static_cast<std::int64_t>(c)));
    CHECK_THROWS_WITH_AS((void)lowered(many, test::schedule(40'000, one_by_one)),
                         doctest::Contains("40000 chunks of a buffer"), InputError);
}

TEST_CASE("collectives that a runtime does not support are refused, naming the runtimes that do") {
    auto gather = test::collective(CollectiveKind::Gather);
    gather.root = Rank(0);
    const Instance instance = test::on_all(test::Net(2).both(0, 1), {gather});
    const Schedule schedule = test::schedule(1, {copy(1, 1, 0)});
    CHECK_THROWS_WITH_AS((void)lowered(instance, schedule, {.target = plan::Target::Msccl}),
                         doctest::Contains("no gather; --target msccl-executor has"), InputError);
    const Instance next =
        test::on_all(test::Net(2).both(0, 1), {test::collective(CollectiveKind::AllToNext)});
    CHECK_THROWS_WITH_AS(
        (void)lowered(next, test::schedule(1, {copy(0, 0, 0)}), {.target = plan::Target::MscclExecutor}),
        doctest::Contains("no custom collectives, so none for all_to_next"), InputError);
    const MscclResult free = lower_to_msccl(next, test::schedule(1, {copy(0, 0, 0)}), CollectiveId(0), {});
    CHECK(free.plan.collective == "custom");
    CHECK(free.target == plan::Target::Msccl);
}

TEST_CASE("relays hand on what the group sends, and get and contribute nothing") {
    // Ranks 0 and 1 are the ends of a line, rank 2 stands between them.
    const Instance instance =
        test::on_group(test::line(3), {0, 2}, {test::collective(CollectiveKind::AllGather)});
    const Schedule schedule = test::schedule(2, {copy(0, 0, 0), copy(1, 3, 0), copy(0, 2, 1), copy(1, 1, 1)});
    MscclResult result = lower_to_msccl(instance, schedule, CollectiveId(0), {.in_place = false});
    CHECK(result.members == 2);
    CHECK(result.npus == test::nodes({0, 2, 1}));
    CHECK(judged(result) == plan::PlanClass::Valid);
    REQUIRE(result.plan.gpus.size() == 3);
    CHECK(result.plan.gpus[0].output_chunks == 2);
    CHECK(result.plan.gpus[2].input_chunks == 0);
    CHECK(result.plan.gpus[2].output_chunks == 0);
    CHECK(types_of(block_between(result.plan.gpus[2], 0, 1)) == Types{"rcs"});
    REQUIRE(result.condition);
    CHECK(result.condition->inputs.at(Rank(2)).empty());
    REQUIRE(result.condition->outputs.size() == 2);
    const std::map<std::int64_t, std::vector<plan::Contribution>> both{{0, {{Rank(0), 0}}},
                                                                       {1, {{Rank(1), 0}}}};
    CHECK(result.condition->outputs.at(Rank(0)) == both);
    CHECK(result.condition->outputs.at(Rank(1)) == both);
    CHECK_THROWS_WITH_AS(
        (void)lower_to_msccl(instance, schedule, CollectiveId(0), {.target = plan::Target::MscclExecutor}),
        doctest::Contains("1 of the plan's 3 ranks are relays"), InputError);
}

TEST_CASE("a rank that has nothing to do has a thread block all the same") {
    const Instance instance = test::on_all(test::Net(3).link(0, 1), {test::custom({0}, {1})});
    const plan::MscclPlan plan =
        lowered(instance, test::schedule(1, {copy(0, 0, 0)}), {.target = plan::Target::Msccl});
    REQUIRE(plan.gpus.size() == 3);
    REQUIRE(plan.gpus[2].blocks.size() == 1);
    CHECK(plan.gpus[2].blocks[0].steps.empty());
}
