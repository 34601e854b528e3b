// Steps of thread blocks and what they wait for.
//
// A step waits for all earlier accesses of its places by other blocks of its rank (compile/step_writer);
// "earlier" is the order that was found, which respects the graph's.

#include "compile/passes/layout.hpp"
#include "compile/step_writer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::compile::passes {
namespace {

using plan::Address;
using plan::Step;
using plan::StepType;

RankMemory packed(const Graph& graph, const Layout& layout, std::uint32_t rank) {
    RankMemory memory = graph.memory[rank];
    if (!layout.scratch.empty()) memory.scratch = layout.scratch[rank];
    return memory;
}

class RankSteps {
  public:
    RankSteps(const Graph& graph, const Layout& layout, std::uint32_t rank,
              const std::vector<std::uint32_t>& blocks, const std::vector<std::uint32_t>& numbers)
        : graph_(graph),
          layout_(layout),
          numbers_(numbers),
          writer_(blocks.size(), packed(graph, layout, rank)) {
        const RankMemory memory = packed(graph, layout, rank);
        gpu_.id = Rank(rank);
        gpu_.input_chunks = static_cast<std::int32_t>(memory.inputs);
        gpu_.output_chunks = static_cast<std::int32_t>(memory.outputs);
        gpu_.scratch_chunks = static_cast<std::int32_t>(memory.scratch);
        gpu_.blocks.reserve(std::max<std::size_t>(blocks.size(), 1));
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
        for (std::size_t b = 0; b < gpu_.blocks.size(); ++b) gpu_.blocks[b].steps = writer_.take_steps(b);
        // A grid cannot be empty.
        if (gpu_.blocks.empty()) gpu_.blocks.push_back({.id = plan::BlockId(0)});
        return std::move(gpu_);
    }

  private:
    [[nodiscard]] Address at(std::uint32_t rank, plan::Buffer buffer, std::uint32_t offset) const {
        const bool moved = buffer == plan::Buffer::Scratch && !layout_.scratch_place.empty() &&
                           !layout_.scratch_place[rank].empty();
        return {buffer, plan::ChunkOffset(moved ? layout_.scratch_place[rank][offset] : offset)};
    }
    [[nodiscard]] Address target_of(const Instruction& one, std::uint32_t rank) const {
        return at(rank, one.target_buffer, one.target);
    }

    [[nodiscard]] Step step_of(std::uint32_t i, const Instruction& one) const {
        Step step{.count = static_cast<std::int32_t>(one.count)};
        // The half that belongs to the peer is only a description.
        const bool source_at_peer = one.receives() && !one.reduces;
        step.src = at(source_at_peer ? one.peer : one.rank, one.source_buffer, one.source);
        step.dst = target_of(one, one.sends() ? one.peer : one.rank);
        switch (one.kind) {
            case Instruction::Kind::Send:
                step.type = StepType::Send;
                break;
            case Instruction::Kind::Local:
                step.type = one.reduces ? StepType::Reduce : StepType::Copy;
                break;
            case Instruction::Kind::Receive:
                if (layout_.fused[i] == kNone) {
                    step.type = one.reduces ? StepType::ReceiveReduceCopy : StepType::Receive;
                } else if (!one.reduces) {
                    step.type = StepType::ReceiveCopySend;
                    step.src = step.dst;
                } else if (layout_.drops_sum[i]) {
                    step.type = StepType::ReceiveReduceSend;
                    const Instruction& sent = graph_.instructions[layout_.fused[i]];
                    step.dst = target_of(sent, sent.peer);
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

/// Those that somebody waits for first, if the target can only wait for the first ones.
void number_waited_first(plan::Gpu& gpu, const MscclLimits& limits) {
    if (gpu.blocks.size() <= static_cast<std::size_t>(limits.waited_block) + 1) return;
    std::ranges::stable_partition(gpu.blocks, [](const plan::ThreadBlock& block) {
        return std::ranges::any_of(block.steps, &Step::signals);
    });
    std::vector<plan::BlockId> number(gpu.blocks.size());
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) number[gpu.blocks[b].id.index()] = plan::BlockId(b);
    for (plan::ThreadBlock& block : gpu.blocks) {
        block.id = number[block.id.index()];
        for (Step& step : block.steps) {
            if (step.dep_block) step.dep_block = number[(*step.dep_block).index()];
        }
    }
}

/// By rank its blocks, in the order in which they are numbered.
std::vector<std::vector<std::uint32_t>> blocks_by_rank(const Graph& graph, const Layout& layout) {
    std::vector<std::vector<std::uint32_t>> blocks(graph.ranks());
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
    }
    return blocks;
}

/// What can be seen before steps are written.
std::optional<Excess> early_excess(const Graph& graph, const Layout& layout, const MscclLimits& limits,
                                   const std::vector<std::vector<std::uint32_t>>& blocks,
                                   const std::vector<std::vector<std::uint32_t>>& order) {
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
        const RankMemory memory = packed(graph, layout, r);
        const std::int64_t chunks = std::max({memory.inputs, memory.outputs, memory.scratch});
        if (chunks > std::int64_t{limits.offset} + 1)
            return Excess{Excess::Of::Offset, chunks, std::int64_t{limits.offset} + 1, r};
    }
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
        const auto of_rank = static_cast<std::int64_t>(blocks[r].size());
        if (of_rank > limits.blocks) return Excess{Excess::Of::Blocks, of_rank, limits.blocks, r};
        const std::int64_t nodes = 1 + of_rank + static_cast<std::int64_t>(order[r].size());
        if (nodes > limits.nodes) return Excess{Excess::Of::Nodes, nodes, limits.nodes, r};
    }
    return std::nullopt;
}

}  // namespace

std::variant<std::vector<plan::Gpu>, Excess> steps_of(const Graph& graph, const MscclLimits* limits,
                                                      Layout& layout) {
    auto blocks = blocks_by_rank(graph, layout);
    std::vector<std::uint32_t> lengths(graph.ranks(), 0);
    for (const std::uint32_t i : layout.order) ++lengths[graph.instructions[i].rank];
    std::vector<std::vector<std::uint32_t>> order(graph.ranks());
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) order[r].reserve(lengths[r]);
    for (const std::uint32_t i : layout.order) order[graph.instructions[i].rank].push_back(i);
    layout.order = std::vector<std::uint32_t>();
    if (limits != nullptr) {
        if (const auto excess = early_excess(graph, layout, *limits, blocks, order)) return *excess;
    }
    std::vector<std::uint32_t> numbers(layout.blocks.size());
    for (const auto& of_rank : blocks) {
        for (std::uint32_t k = 0; k < of_rank.size(); ++k) numbers[of_rank[k]] = k;
    }
    std::vector<plan::Gpu> gpus;
    gpus.reserve(graph.ranks());
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
        RankSteps steps(graph, layout, r, blocks[r], numbers);
        for (const std::uint32_t i : order[r]) steps.add(i);
        gpus.push_back(steps.take());
        // What is done makes room for the next rank's steps.
        order[r] = std::vector<std::uint32_t>();
        blocks[r] = std::vector<std::uint32_t>();
        if (limits == nullptr) continue;
        number_waited_first(gpus.back(), *limits);
        if (const auto excess = excess_of(gpus.back(), *limits)) return *excess;
    }
    return gpus;
}

}  // namespace tutti::compile::passes
