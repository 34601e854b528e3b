#include "compile/excess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::compile {
namespace {

std::string_view words_of(Excess::Of of) {
    switch (of) {
        case Excess::Of::Steps:
            return "steps of a thread block";
        case Excess::Of::Blocks:
            return "thread blocks";
        case Excess::Of::Channels:
            return "channels";
        case Excess::Of::Nodes:
            return "XML elements";
        case Excess::Of::Offset:
            return "chunks of a buffer";
        case Excess::Of::WaitedBlock:
            return "thread blocks that others wait for";
    }
    return "";
}

}  // namespace

std::optional<Excess> excess_of(const plan::Gpu& gpu, const MscclLimits& limits) {
    const std::uint32_t rank = gpu.id.value();
    const auto over = [&](Excess::Of of, std::int64_t needed, std::int64_t limit) {
        return needed > limit ? std::optional(Excess{of, needed, limit, rank}) : std::nullopt;
    };
    const auto blocks = static_cast<std::int64_t>(gpu.blocks.size());
    if (const auto found = over(Excess::Of::Blocks, blocks, limits.blocks)) return found;
    std::int64_t nodes = 1 + blocks, waited = 0;
    std::map<std::size_t, std::int64_t> on_channel;
    for (const plan::ThreadBlock& block : gpu.blocks) {
        const auto steps = static_cast<std::int64_t>(block.steps.size());
        if (const auto found = over(Excess::Of::Steps, steps, limits.steps)) return found;
        nodes += steps;
        const std::int64_t there = ++on_channel[block.channel ? (*block.channel).index() : 0];
        if (there > limits.blocks_per_channel) {
            // One more channel at least.
            return Excess{Excess::Of::Channels, std::int64_t{limits.channels} + 1, limits.channels, rank};
        }
        for (const plan::Step& step : block.steps) {
            if (!step.dep_block) continue;
            waited = std::max(waited, static_cast<std::int64_t>((*step.dep_block).index()) + 1);
        }
    }
    if (const auto found = over(Excess::Of::Nodes, nodes, limits.nodes)) return found;
    if (const auto found = over(Excess::Of::WaitedBlock, waited, std::int64_t{limits.waited_block} + 1))
        return found;
    const std::int64_t chunks = std::max(
        {std::int64_t{gpu.input_chunks}, std::int64_t{gpu.output_chunks}, std::int64_t{gpu.scratch_chunks}});
    return over(Excess::Of::Offset, chunks, std::int64_t{limits.offset} + 1);
}

std::string text_of(const Excess& excess, plan::Target target) {
    return fmt::format("the plan needs {} {} on rank {}; {} has room for {}{}", excess.needed,
                       words_of(excess.of), excess.rank, name_of(target), excess.limit,
                       target != plan::Target::Msccl ? " (--target msccl takes longer thread blocks)" : "");
}

std::optional<Excess> excess_of(const plan::MscclPlan& plan, const MscclLimits& limits) {
    if (plan.channels > limits.channels) {
        return Excess{Excess::Of::Channels, plan.channels, limits.channels, 0};
    }
    for (const plan::Gpu& gpu : plan.gpus) {
        if (const auto found = excess_of(gpu, limits)) return found;
    }
    return std::nullopt;
}

}  // namespace tutti::compile
