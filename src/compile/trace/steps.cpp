// Steps of thread blocks and what they wait for.
//
// A step waits for all earlier accesses of its places by other blocks of its rank (compile/waits); "earlier"
// is the order that was played, which respects the program's. A step can name one other step; where it waits
// for more, nops before it do.

#include "compile/trace/layout.hpp"
#include "compile/waits.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::compile::trace {
namespace {

using plan::Address;
using plan::Step;
using plan::StepType;

class RankSteps {
  public:
    RankSteps(const Graph& graph, const Layout& layout, std::uint32_t rank,
              const std::vector<std::uint32_t>& blocks, const std::vector<std::uint32_t>& numbers)
        : graph_(graph),
          layout_(layout),
          rank_(rank),
          numbers_(numbers),
          works_(blocks.size()),
          waits_(blocks.size(), graph.inputs + graph.outputs + graph.scratch[rank]) {
        gpu_.id = Rank(rank);
        gpu_.input_chunks = static_cast<std::int32_t>(graph.inputs);
        gpu_.output_chunks = static_cast<std::int32_t>(graph.outputs);
        gpu_.scratch_chunks = static_cast<std::int32_t>(graph.scratch[rank]);
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const Block& block = layout.blocks[blocks[b]];
            plan::ThreadBlock made{.id = plan::BlockId(b)};
            if (block.in != kNone) {
                made.recv_peer = Rank(layout.lanes[block.in].from);
                made.channel = plan::ChannelId(layout.lanes[block.in].channel);
            }
            if (block.out != kNone) {
                made.send_peer = Rank(layout.lanes[block.out].to);
                made.channel = plan::ChannelId(layout.lanes[block.out].channel);
            }
            gpu_.blocks.push_back(std::move(made));
        }
    }

    void add(std::uint32_t i) {
        const Instruction& one = graph_.instructions[i];
        const std::uint32_t block = numbers_[layout_.block_of[i]];
        Step step = step_of(i, one);
        reads_.clear();
        writes_.clear();
        if (plan::uses_source(step.type)) list(step.src, step.count, reads_);
        if (step.type == StepType::Reduce) list(step.dst, step.count, reads_);
        if (plan::stores(step.type)) list(step.dst, step.count, writes_);
        const auto waited = waits_.next(block, reads_, writes_);
        for (std::size_t k = 0; k < waited.size(); ++k) {
            const plan::StepId number = works_[waited[k].block][waited[k].step];
            gpu_.blocks[waited[k].block].steps[number.index()].signals = true;
            Step nop{.count = 0};
            nop.dst.buffer = plan::Buffer::Output;
            const bool last = k + 1 == waited.size();
            Step& bearer = last ? step : nop;
            bearer.dep_block = plan::BlockId(waited[k].block);
            bearer.dep_step = number;
            if (!last) push(block, nop);
        }
        push(block, step);
        works_[block].push_back(gpu_.blocks[block].steps.back().number);
    }
    plan::Gpu take() { return std::move(gpu_); }

  private:
    static Address at(plan::Buffer buffer, std::uint32_t offset) {
        return {buffer, plan::ChunkOffset(offset)};
    }

    [[nodiscard]] Step step_of(std::uint32_t i, const Instruction& one) const {
        Step step{.count = static_cast<std::int32_t>(one.count)};
        // The half that belongs to the peer is only a description.
        step.src = at(one.source_buffer, one.source);
        step.dst = at(one.target_buffer, one.target);
        switch (one.kind) {
            case Instruction::Kind::Send:
                step.type = StepType::Send;
                break;
            case Instruction::Kind::Local:
                step.type = one.reduces ? StepType::Reduce : StepType::Copy;
                break;
            case Instruction::Kind::Receive:
                if (one.reduces) step.src = step.dst;  // its own accumulator
                if (layout_.fused[i] == kNone) {
                    step.type = one.reduces ? StepType::ReceiveReduceCopy : StepType::Receive;
                } else if (!one.reduces) {
                    step.type = StepType::ReceiveCopySend;
                    step.src = step.dst;
                } else if (layout_.drops_sum[i]) {
                    step.type = StepType::ReceiveReduceSend;
                    const Instruction& sent = graph_.instructions[layout_.fused[i]];
                    step.dst = at(sent.target_buffer, sent.target);  // the peer's
                } else {
                    step.type = StepType::ReceiveReduceCopySend;
                }
                break;
        }
        return step;
    }
    void list(const Address& first, std::int32_t count, std::vector<std::size_t>& places) const {
        std::size_t place = (*first.offset).index();
        if (first.buffer != plan::Buffer::Input) place += graph_.inputs;
        if (first.buffer == plan::Buffer::Scratch) place += graph_.outputs;
        for (std::int32_t k = 0; k < count; ++k) places.push_back(place + static_cast<std::size_t>(k));
    }
    void push(std::uint32_t block, Step step) {
        auto& steps = gpu_.blocks[block].steps;
        step.number = plan::StepId(steps.size());
        steps.push_back(step);
    }

    const Graph& graph_;
    const Layout& layout_;
    std::uint32_t rank_;
    const std::vector<std::uint32_t>& numbers_;
    std::vector<std::vector<plan::StepId>> works_;
    Waits waits_;
    plan::Gpu gpu_;
    std::vector<std::size_t> reads_, writes_;
};

}  // namespace

std::vector<plan::Gpu> steps_of(const Graph& graph, const lang::Shape& /*shape*/, const Layout& layout) {
    std::vector<std::vector<std::uint32_t>> blocks(graph.ranks), order(graph.ranks);
    std::vector<std::uint32_t> numbers(layout.blocks.size());
    for (std::uint32_t b = 0; b < layout.blocks.size(); ++b) blocks[layout.blocks[b].rank].push_back(b);
    for (auto& of_rank : blocks) {
        const auto key = [&](std::uint32_t b) {
            const Block& block = layout.blocks[b];
            const std::int64_t to = block.out == kNone ? -1 : std::int64_t{layout.lanes[block.out].to};
            const std::int64_t from = block.in == kNone ? -1 : std::int64_t{layout.lanes[block.in].from};
            const std::uint32_t channel = block.out != kNone  ? layout.lanes[block.out].channel
                                          : block.in != kNone ? layout.lanes[block.in].channel
                                                              : 0;
            const bool idle = block.in == kNone && block.out == kNone;
            return std::tuple(block.wanted >= 0 ? 0 : 1, block.wanted, idle, to, from, channel);
        };
        std::ranges::stable_sort(of_rank, {}, key);
        for (std::uint32_t k = 0; k < of_rank.size(); ++k) numbers[of_rank[k]] = k;
    }
    for (const std::uint32_t i : layout.order) order[graph.instructions[i].rank].push_back(i);
    std::vector<plan::Gpu> gpus;
    for (std::uint32_t r = 0; r < graph.ranks; ++r) {
        RankSteps steps(graph, layout, r, blocks[r], numbers);
        for (const std::uint32_t i : order[r]) steps.add(i);
        gpus.push_back(steps.take());
    }
    return gpus;
}

}  // namespace tutti::compile::trace
