#include "verify/plan/execution_layout.hpp"

#include "verify/plan/in_place.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {

using plan::Buffer;

bool sizes_fit(const plan::ExecutionPlan& plan, const plan::CallSizes& sizes, Findings& violations) {
    if (sizes.goal == CollectiveKind::Custom) return true;
    const auto ranks = static_cast<std::int64_t>(plan.gpus.size());
    for (const plan::ExecutionGpu& gpu : plan.gpus) {
        const plan::ExecutionGpu& first = plan.gpus.front();
        const bool same = gpu.input_chunks == first.input_chunks && gpu.output_chunks == first.output_chunks;
        if (same || has_root(sizes.goal)) continue;
        violations.add(
            "chunks",
            fmt::format("gpu {} has {} input and {} output chunks, gpu 0 has {} and {}; {} needs the "
                        "same everywhere",
                        gpu.id, gpu.input_chunks, gpu.output_chunks, first.input_chunks, first.output_chunks,
                        plan_name_of(sizes.goal)),
            {.gpu = gpu.id});
        return false;
    }
    const plan::SizeRatio ratio = plan::size_ratio(sizes.goal, ranks);
    const bool divides = sizes.goal != CollectiveKind::AllToAll || sizes.input % ranks == 0;
    if (sizes.input * ratio.output == sizes.output * ratio.input && divides) return true;
    violations.add("chunks", fmt::format("{} input and {} output chunks do not fit {} of {} ranks",
                                         sizes.input, sizes.output, plan_name_of(sizes.goal), ranks));
    return false;
}

ExecutionLayout::ExecutionLayout(const plan::ExecutionPlan& plan, const plan::CallSizes& sizes,
                                 std::int64_t places_per_chunk, std::optional<Rank> root)
    : places_per_chunk_(places_per_chunk) {
    ranks_.resize(plan.gpus.size());
    memories_.reserve(plan.gpus.size() * kMemories);
    for (const Rank rank : plan::ranks_below(std::ssize(plan.gpus))) lay_out(rank, plan, sizes, root);
}

void ExecutionLayout::lay_out(Rank rank, const plan::ExecutionPlan& plan, const plan::CallSizes& sizes,
                              std::optional<Rank> root) {
    const plan::ExecutionGpu& gpu = plan.gpus[rank.index()];
    const bool as_declared = sizes.goal == CollectiveKind::Custom || has_root(sizes.goal);
    const bool rooted_alias = sizes.goal == CollectiveKind::Gather || sizes.goal == CollectiveKind::Scatter;
    const bool aliased = plan.in_place && (!rooted_alias || rank == root);
    std::int64_t input = as_declared ? gpu.input_chunks : sizes.input;
    std::int64_t output = as_declared ? gpu.output_chunks : sizes.output;
    if (aliased && as_declared && !rooted_alias) input = output = std::max(input, output);

    Buffers& at = ranks_[rank.index()];
    at.room[0] = input;
    at.room[1] = output;
    at.room[2] = gpu.scratch_chunks;
    const auto first = static_cast<std::uint32_t>(memories_.size());
    for (std::uint32_t i = 0; i < plan::kBuffers; ++i) at.at[i] = {first + i, 0};
    plan::Range &in = at.at[0], &out = at.at[1];
    std::int64_t chunks[plan::kBuffers] = {input, output, gpu.scratch_chunks};
    if (aliased) share_memory(sizes.goal, rank.value() * sizes.share * places_per_chunk_, in, out);
    for (std::uint32_t i = 0; i < plan::kBuffers; ++i) {
        memories_.push_back(
            {.gpu = rank, .buffer = static_cast<Buffer>(i), .chunks = chunks[i] * places_per_chunk_});
    }
    memories_.push_back({.gpu = rank,
                         .buffer = Buffer::Scratch,
                         .packets = true,
                         .chunks = gpu.scratch_chunks * places_per_chunk_});
    plan::Memory& holder = memories_[in.memory];
    holder.origin = rank;
    holder.origin_shift = -in.first;
    holder.known_first = in.first;
    holder.known_last = in.first + input * places_per_chunk_;
}

void ExecutionLayout::describe_to(plan::Program& program) const {
    program.memories = memories_;
    program.places_per_chunk = places_per_chunk_;
    for (const Buffers& rank : ranks_) {
        program.outputs.push_back(rank.at[static_cast<std::size_t>(Buffer::Output)]);
        program.output_places.push_back(rank.room[static_cast<std::size_t>(Buffer::Output)] *
                                        places_per_chunk_);
    }
}

}  // namespace tutti::verify
