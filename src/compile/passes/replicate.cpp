// Several copies of a program that share the data: m times as many chunks, each copy on thread blocks and
// channels of its own; copies never wait for each other.
//
// Copy i takes of every chunk c of a buffer either the chunk i * length + c of the larger buffer (a stretch
// of the buffer for each copy) or c * m + i (a part of every chunk, "interleaved"). The first is right
// whatever the counts of steps are, but only for collectives in which all chunks of a buffer mean the same to
// all ranks: all_reduce, broadcast, reduce. For the others a rank's share must stay together, so only the
// second is right. There a step of `count` chunks touches chunks m apart: it becomes a step over a run of
// count * m chunks, of which the copy takes its part i * count … if every access of a range has the same
// bounds, or `count` steps of one chunk. The judge decides which.

#include "compile/passes/replicate.hpp"

#include <algorithm>
#include <utility>

namespace tutti::compile::passes {
namespace {

class Copier {
  public:
    Copier(const plan::MscclPlan& plan, std::int64_t copies, Manner manner)
        : plan_(plan), copies_(copies), manner_(manner) {}

    [[nodiscard]] plan::MscclPlan run() const {
        plan::MscclPlan made = plan_;
        made.channels = static_cast<std::int32_t>(plan_.channels * copies_);
        made.chunks_per_loop = static_cast<std::int32_t>(plan_.chunks_per_loop * copies_);
        for (plan::Gpu& gpu : made.gpus) {
            const std::vector<plan::ThreadBlock> blocks = std::move(gpu.blocks);
            gpu.blocks.clear();
            for (std::int64_t i = 0; i < copies_; ++i) {
                for (const plan::ThreadBlock& block : blocks)
                    gpu.blocks.push_back(copy(block, gpu, blocks.size(), i));
            }
            const auto times = static_cast<std::int32_t>(copies_);
            gpu.input_chunks *= times;
            gpu.output_chunks *= times;
            gpu.scratch_chunks *= times;
        }
        if (manner_ == Manner::Singles) renumber(made);
        return made;
    }

  private:
    [[nodiscard]] plan::Address moved(const plan::Address& address, const plan::Gpu& gpu, std::int64_t count,
                                      std::int64_t i) const {
        if (!address.offset) return address;
        const std::int64_t length = address.buffer == plan::Buffer::Input    ? gpu.input_chunks
                                    : address.buffer == plan::Buffer::Output ? gpu.output_chunks
                                                                             : gpu.scratch_chunks;
        return passes::moved(address, manner_, length, count, i, copies_);
    }

    [[nodiscard]] plan::ThreadBlock copy(const plan::ThreadBlock& block, const plan::Gpu& gpu,
                                         std::size_t blocks, std::int64_t i) const {
        plan::ThreadBlock made = block;
        const auto shift = static_cast<std::size_t>(i) * blocks;
        made.id = plan::BlockId(block.id.index() + shift);
        if (block.channel) {
            made.channel =
                plan::ChannelId((*block.channel).index() + static_cast<std::size_t>(i * plan_.channels));
        }
        made.steps.clear();
        for (const plan::Step& step : block.steps) {
            const std::int32_t parts = manner_ == Manner::Singles ? std::max(step.count, 1) : 1;
            for (std::int32_t k = 0; k < parts; ++k) {
                plan::Step part = step;
                if (step.type != plan::StepType::Nop) {
                    if (parts > 1) {
                        part.count = 1;
                        part.src = step.src.offset ? step.src.plus(k) : step.src;
                        part.dst = step.dst.offset ? step.dst.plus(k) : step.dst;
                    }
                    part.src = moved(part.src, gpu, part.count, i);
                    part.dst = moved(part.dst, gpu, part.count, i);
                }
                if (part.dep_block) part.dep_block = plan::BlockId((*part.dep_block).index() + shift);
                // The first part waits, the last one signals; numbers are made new below.
                if (k > 0) {
                    part.dep_block.reset();
                    part.dep_step.reset();
                }
                if (k + 1 < parts) part.signals = false;
                made.steps.push_back(part);
            }
        }
        return made;
    }

    /// Steps that were split: positions, and the last part of what is waited for.
    static void renumber(plan::MscclPlan& plan) {
        for (plan::Gpu& gpu : plan.gpus) {
            std::vector<std::vector<plan::StepId>> last(gpu.blocks.size());
            for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
                auto& steps = gpu.blocks[b].steps;
                for (std::size_t s = 0; s < steps.size(); ++s) {
                    const std::size_t old = steps[s].number.index();
                    if (last[b].size() <= old) last[b].resize(old + 1);
                    last[b][old] = plan::StepId(s);
                    steps[s].number = plan::StepId(s);
                }
            }
            for (plan::ThreadBlock& block : gpu.blocks) {
                for (plan::Step& step : block.steps) {
                    if (step.dep_block)
                        step.dep_step = last[(*step.dep_block).index()][(*step.dep_step).index()];
                }
            }
        }
    }

    const plan::MscclPlan& plan_;
    std::int64_t copies_;
    Manner manner_;
};

bool has_ranges(const plan::MscclPlan& plan) {
    for (const plan::Gpu& gpu : plan.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) {
            if (std::ranges::any_of(block.steps, [](const plan::Step& step) { return step.count > 1; }))
                return true;
        }
    }
    return false;
}

}  // namespace

plan::Address moved(const plan::Address& address, Manner manner, std::int64_t length, std::int64_t count,
                    std::int64_t i, std::int64_t m) {
    const std::int64_t c = (*address.offset).value();
    const bool stretch = manner == Manner::Stretches || address.buffer == plan::Buffer::Scratch;
    const std::int64_t place = stretch                  ? i * length + c
                               : manner == Manner::Runs ? c * m + i * count
                                                        : c * m + i;
    return {address.buffer, plan::id_of<plan::ChunkOffset>(place)};
}

plan::Condition copied(const plan::Condition& condition, const lang::Shape& shape, std::int64_t m,
                       Manner manner) {
    const std::int64_t inputs = input_chunks(shape), outputs = output_chunks(shape);
    const auto place = [&](std::int64_t c, std::int64_t i, std::int64_t length) {
        return manner == Manner::Stretches ? i * length + c : c * m + i;
    };
    plan::Condition made;
    for (const auto& [rank, chunks] : condition.inputs) {
        auto& into = made.inputs[rank];
        for (const std::int64_t c : chunks) {
            for (std::int64_t i = 0; i < m; ++i) into.push_back(place(c, i, inputs));
        }
        std::ranges::sort(into);
    }
    for (const auto& [rank, chunks] : condition.outputs) {
        for (const auto& [c, value] : chunks) {
            for (std::int64_t i = 0; i < m; ++i) {
                auto& into = made.outputs[rank][place(c, i, outputs)];
                for (const plan::Contribution& one : value) {
                    into.push_back({one.rank, place(one.chunk, i, inputs)});
                }
                std::ranges::sort(into);
            }
        }
    }
    return made;
}

std::vector<Manner> manners_of(const lang::Trace& program, bool has_ranges) {
    const CollectiveKind kind = program.shape.kind;
    const bool alike = kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast ||
                       kind == CollectiveKind::Reduce;
    if (!alike) return {Manner::Runs, Manner::Singles};
    if (has_ranges || !program.interleaved) return {Manner::Stretches, Manner::Singles};
    return {Manner::Singles, Manner::Stretches};
}

std::vector<TraceResult> replicated(plan::MscclPlan plan, const TraceResult& frame,
                                    const lang::Trace& program) {
    std::vector<TraceResult> ways;
    if (program.instances <= 1) {
        ways.push_back({std::move(plan), frame.condition, frame.root});
        return ways;
    }
    for (const Manner manner : manners_of(program, has_ranges(plan))) {
        const auto m = static_cast<std::int64_t>(program.instances);
        TraceResult way{Copier(plan, m, manner).run(), std::nullopt, frame.root};
        if (frame.condition) {
            way.condition = copied(*frame.condition, program.shape, m, manner);
        }
        ways.push_back(std::move(way));
    }
    return ways;
}

}  // namespace tutti::compile::passes
