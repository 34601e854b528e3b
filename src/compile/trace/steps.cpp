// Steps of thread blocks and what they wait for.
//
// A step waits for all earlier accesses of its places by other blocks of its rank (compile/step_writer);
// "earlier" is the order that was played, which respects the program's.

#include "compile/step_writer.hpp"
#include "compile/trace/layout.hpp"

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
          numbers_(numbers),
          writer_(blocks.size(), msccl::Locations(graph.inputs, graph.outputs, graph.scratch[rank])) {
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
        writer_.add(numbers_[layout_.block_of[i]], step_of(i, graph_.instructions[i]));
    }
    plan::Gpu take() {
        for (std::size_t b = 0; b < gpu_.blocks.size(); ++b) gpu_.blocks[b].steps = writer_.steps(b);
        // A grid cannot be empty.
        if (gpu_.blocks.empty()) gpu_.blocks.push_back({.id = plan::BlockId(0)});
        return std::move(gpu_);
    }

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
    const Graph& graph_;
    const Layout& layout_;
    const std::vector<std::uint32_t>& numbers_;
    StepWriter writer_;
    plan::Gpu gpu_;
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
