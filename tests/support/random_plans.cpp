#include "tests/support/random_plans.hpp"

#include "tests/support/chunk_programs.hpp"
#include "tests/support/plan_ids.hpp"

#include <algorithm>

namespace tutti::test {
namespace {

using plan::Buffer;
using plan::StepType;

std::int32_t any(Rng& rng, std::int64_t limit) {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(limit)));
}

/// Matched messages, and everything else by lot.
class Wild {
  public:
    explicit Wild(Rng& rng) : rng_(rng) {}

    plan::MscclPlan make() {
        plan_.name = "wild";
        plan_.ranks = rng_.below(4) == 0 ? 3 : 2;
        plan_.channels = 2;
        plan_.chunks_per_loop = 2;
        plan_.collective = rng_.below(4) == 0 ? "allreduce" : "custom";
        plan_.in_place = rng_.below(2) == 0;
        plan_.out_of_place = !*plan_.in_place;
        talks_ = rng_.below(4) == 0;
        count_ = 1 + any(rng_, 2);
        for (const Rank g : plan::ranks_below(plan_.ranks)) {
            plan::Gpu gpu;
            gpu.id = g;
            gpu.input_chunks = gpu.output_chunks = gpu.scratch_chunks = 2;
            for (std::int32_t b = 0; b < (talks_ ? 1 : 1 + any(rng_, 3)); ++b) {
                gpu.blocks.push_back(
                    {id<plan::BlockId>(b), {}, {}, id<plan::ChannelId>(b < plan_.channels ? b : 0), {}});
            }
            plan_.gpus.push_back(gpu);
        }
        for (int n = talks_ ? 4 + any(rng_, 6) : 1 + any(rng_, 4); n > 0; --n) add_message();
        for (int n = any(rng_, 5); n > 0; --n) add_local();
        for (int n = any(rng_, 4); n > 0; --n) add_dependency();
        for (plan::Gpu& gpu : plan_.gpus) {
            for (plan::ThreadBlock& block : gpu.blocks) {
                for (std::size_t s = 0; s < block.steps.size(); ++s) {
                    block.steps[s].number = plan::StepId(s);
                }
            }
        }
        return std::move(plan_);
    }

  private:
    plan::Address address(std::int32_t count) {
        return {static_cast<Buffer>(rng_.below(3)), id<plan::ChunkOffset>(any(rng_, 3 - count))};
    }

    plan::Step step(StepType type, std::int32_t count) {
        plan::Step made;
        made.type = type;
        made.count = count;
        made.src = address(count);
        made.dst = rng_.below(3) == 0 ? made.src : address(count);
        made.signals = rng_.below(2) == 0;
        return made;
    }

    void insert(plan::ThreadBlock& block, const plan::Step& made) {
        const bool anywhere = talks_ ? made.type == StepType::Send : rng_.below(3) == 0;
        const auto at =
            anywhere ? any(rng_, std::ssize(block.steps) + 1) : static_cast<std::int32_t>(block.steps.size());
        block.steps.insert(block.steps.begin() + at, made);
    }

    /// The block that has this end of the connection, or a free one; none if all are taken.
    plan::ThreadBlock* end_of(std::int32_t g, OptionalId<Rank> plan::ThreadBlock::*end, std::int32_t peer,
                              std::int32_t channel) {
        auto& blocks = plan_.gpus[static_cast<std::size_t>(g)].blocks;
        for (plan::ThreadBlock& block : blocks) {
            if (block.*end == id<Rank>(peer) && number(block.channel) == channel) return &block;
        }
        for (plan::ThreadBlock& block : blocks) {
            if (!(block.*end) && number(block.channel) == channel) return &block;
        }
        return nullptr;
    }

    void add_message() {
        const std::int32_t from = any(rng_, plan_.ranks);
        const std::int32_t to = (from + 1 + any(rng_, plan_.ranks - 1)) % plan_.ranks;
        const std::int32_t channel = talks_ ? 0 : any(rng_, 2);
        const std::int32_t count = talks_ ? count_ : rng_.below(4) == 0 ? 2 : 1;
        plan::ThreadBlock* const sender = end_of(from, &plan::ThreadBlock::send_peer, to, channel);
        plan::ThreadBlock* const receiver = end_of(to, &plan::ThreadBlock::recv_peer, from, channel);
        if (sender == nullptr || receiver == nullptr) return;
        sender->send_peer = id<Rank>(to);
        receiver->recv_peer = id<Rank>(from);
        fuse_or_insert(*sender, step(StepType::Send, count));
        fuse_or_insert(*receiver,
                       step(rng_.below(2) == 0 ? StepType::Receive : StepType::ReceiveReduceCopy, count));
    }

    /// A send and a receive in one block may become one step.
    void fuse_or_insert(plan::ThreadBlock& block, const plan::Step& made) {
        const bool fits =
            !block.steps.empty() && block.steps.back().count == made.count && rng_.below(2) == 0;
        const StepType last = fits ? block.steps.back().type : StepType::Nop;
        if (made.type == StepType::Send && last == StepType::Receive) {
            block.steps.back().type = StepType::ReceiveCopySend;
        } else if (made.type == StepType::Send && last == StepType::ReceiveReduceCopy) {
            block.steps.back().type =
                rng_.below(2) == 0 ? StepType::ReceiveReduceCopySend : StepType::ReceiveReduceSend;
        } else if (made.type == StepType::Receive && last == StepType::Send) {
            block.steps.back().type = StepType::ReceiveCopySend;
        } else {
            insert(block, made);
        }
    }

    plan::ThreadBlock& some_block() {
        auto& blocks = plan_.gpus[static_cast<std::size_t>(any(rng_, plan_.ranks))].blocks;
        return blocks[rng_.below(blocks.size())];
    }

    void add_local() {
        constexpr StepType kTypes[]{StepType::Copy, StepType::Reduce, StepType::Reduce, StepType::Nop};
        plan::Step made = step(kTypes[rng_.below(std::size(kTypes))], 1);
        if (made.type == StepType::Nop) made.count = 0;
        insert(some_block(), made);
    }

    void add_dependency() {
        plan::Gpu& gpu = plan_.gpus[static_cast<std::size_t>(any(rng_, plan_.ranks))];
        plan::ThreadBlock& from = gpu.blocks[rng_.below(gpu.blocks.size())];
        plan::ThreadBlock& to = gpu.blocks[rng_.below(gpu.blocks.size())];
        if (from.steps.empty() || to.steps.empty()) return;
        plan::Step& waiting = to.steps[rng_.below(to.steps.size())];
        waiting.dep_block = from.id;
        waiting.dep_step = plan::StepId(rng_.below(from.steps.size()));
        if (rng_.below(6) != 0) from.steps[(*waiting.dep_step).index()].signals = true;
    }

    Rng& rng_;
    plan::MscclPlan plan_{};
    bool talks_ = false;  ///< one block each and many messages, sends early: FIFOs fill
    std::int32_t count_ = 1;
};

/// In place one of the two names need not be declared.
void declare_less(plan::MscclPlan& plan, Rng& rng) {
    if (plan.in_place != true || plan.out_of_place == true) return;
    const bool only_output = plan.collective == "allgather";
    if (!only_output && plan.collective != "allreduce" && plan.collective != "custom") return;
    for (plan::Gpu& gpu : plan.gpus) {
        (only_output || rng.below(2) == 0 ? gpu.input_chunks : gpu.output_chunks) = 0;
    }
}

}  // namespace

plan::MscclPlan random_plan(Rng& rng, PlanOrigin origin) {
    constexpr std::size_t kMostSteps = 18;
    for (;;) {
        plan::MscclPlan plan;
        switch (origin) {
            case PlanOrigin::Algorithm:
                plan = lowered(random_chunk_program(rng), rng);
                break;
            case PlanOrigin::Mutated:
                plan = lowered(random_chunk_program(rng), rng);
                for (std::uint64_t n = 1 + (rng.below(4) == 0 ? 1 : 0); n > 0; --n) mutate(plan, rng);
                break;
            case PlanOrigin::Careless: {
                LoweringOptions options;
                options.lose_dependency = rng.below(3) == 0 ? 20 : 70;
                plan = lowered(rng.below(2) == 0 ? senseless_program(rng) : random_chunk_program(rng), rng,
                               options);
                break;
            }
            case PlanOrigin::Wild:
                plan = Wild(rng).make();
                break;
        }
        if (rng.below(8) == 0) declare_less(plan, rng);
        if (plan::steps_of(plan) <= kMostSteps) return plan;
    }
}

}  // namespace tutti::test
