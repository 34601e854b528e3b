#include "verify/plan/msccl_layout.hpp"

#include "core/expects.hpp"
#include "verify/plan/in_place.hpp"

#include <algorithm>

namespace tutti::verify {

using plan::Buffer;

std::optional<MscclSizes> sizes_of(const plan::MscclPlan& plan, CollectiveKind goal) {
    const std::int64_t chunks = plan.chunks_per_loop, ranks = plan.ranks;
    const bool divides = chunks % ranks == 0;
    const auto declares_at_most = [&](std::int32_t plan::Gpu::*size) {
        return std::ranges::all_of(plan.gpus, [&](const plan::Gpu& gpu) { return gpu.*size <= chunks; });
    };
    MscclSizes sizes{goal, chunks, chunks, chunks};
    switch (goal) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::Broadcast:
        case CollectiveKind::Reduce:
        case CollectiveKind::AllToNext:
        case CollectiveKind::SendRecv:
            return sizes;
        case CollectiveKind::AllToAll:
            sizes.block = chunks / ranks;
            break;
        case CollectiveKind::AllGather:
            sizes.block = sizes.input = chunks / ranks;
            break;
        case CollectiveKind::ReduceScatter:
            sizes.block = sizes.output = chunks / ranks;
            break;
        // Files of these two count the chunks of a share, or (SCCL) those of the root's buffer.
        case CollectiveKind::Gather:
            if (divides && declares_at_most(&plan::Gpu::output_chunks)) sizes.block = chunks / ranks;
            sizes.input = sizes.block;
            sizes.output = sizes.block * ranks;
            return sizes;
        case CollectiveKind::Scatter:
            if (divides && declares_at_most(&plan::Gpu::input_chunks)) sizes.block = chunks / ranks;
            sizes.output = sizes.block;
            sizes.input = sizes.block * ranks;
            return sizes;
        case CollectiveKind::AllToAllV:
        case CollectiveKind::Permute:
        case CollectiveKind::Custom:
            return MscclSizes{goal, 0, -1, -1};
    }
    if (!divides) return std::nullopt;
    return sizes;
}

MscclLayout::MscclLayout(const std::vector<const plan::Gpu*>& gpus, const MscclSizes& sizes, bool in_place,
                         std::optional<Rank> root) {
    ranks_.resize(gpus.size());
    memories_.reserve(gpus.size() * plan::kBuffers);
    for (const Rank rank : plan::ranks_below(std::ssize(gpus)))
        lay_out(rank, *gpus[rank.index()], sizes, in_place, root);
}

void MscclLayout::lay_out(Rank rank, const plan::Gpu& gpu, const MscclSizes& sizes, bool in_place,
                          std::optional<Rank> root) {
    const bool known = sizes.goal != CollectiveKind::Custom;
    std::int64_t input = known ? sizes.input : gpu.input_chunks;
    std::int64_t output = known ? sizes.output : gpu.output_chunks;
    // Only the root has that buffer; while the root is unknown, every rank that declares it.
    if (sizes.goal == CollectiveKind::Gather && rank != root) {
        output = !root ? std::min<std::int64_t>(output, gpu.output_chunks) : 0;
    }
    if (sizes.goal == CollectiveKind::Scatter && rank != root) {
        input = !root ? std::min<std::int64_t>(input, gpu.input_chunks) : 0;
    }
    if (!known && in_place) input = output = std::max(input, output);

    const auto first = static_cast<std::uint32_t>(memories_.size());
    const auto memory = [&](Buffer buffer, std::int64_t chunks) {
        memories_.push_back({.gpu = rank, .buffer = buffer, .chunks = chunks});
    };
    memory(Buffer::Input, input);
    memory(Buffer::Output, output);
    memory(Buffer::Scratch, gpu.scratch_chunks);

    Buffers& at = ranks_[rank.index()];
    at.output = output;
    for (std::uint32_t i = 0; i < plan::kBuffers; ++i) at.at[i] = {first + i, 0};
    plan::Range& in = at.at[static_cast<int>(Buffer::Input)];
    plan::Range& out = at.at[static_cast<int>(Buffer::Output)];
    const bool rooted = sizes.goal == CollectiveKind::Gather || sizes.goal == CollectiveKind::Scatter;
    const bool aliased = in_place && (!rooted || rank == root);
    if (aliased) share_memory(sizes.goal, rank.value() * sizes.block, in, out);
    plan::Memory& holder = memories_[in.memory];
    holder.origin = rank;
    holder.origin_shift = -in.first;
    holder.known_first = in.first;
    holder.known_last = in.first + input;

    // With an alias, a chunk is declared if either buffer declares it: producers use one of the two.
    const std::int64_t in_end = in.first + gpu.input_chunks, out_end = out.first + gpu.output_chunks;
    const std::int64_t end = std::max(in_end, out_end);
    at.room[0] = std::min(input, aliased ? std::max<std::int64_t>(end - in.first, 0) : gpu.input_chunks);
    at.room[1] = std::min(output, aliased ? std::max<std::int64_t>(end - out.first, 0) : gpu.output_chunks);
    at.room[2] = gpu.scratch_chunks;
}

plan::Range MscclLayout::resolve(Rank gpu, const plan::Address& address) const {
    expects(address.offset >= 0 && address.offset <= room(gpu, address.buffer));
    plan::Range range = ranks_[gpu.index()].at[static_cast<int>(address.buffer)];
    range.first += address.offset;
    return range;
}

std::int64_t MscclLayout::room(Rank gpu, Buffer buffer) const {
    return ranks_[gpu.index()].room[static_cast<int>(buffer)];
}

void MscclLayout::describe_to(plan::Program& program) const {
    program.memories = memories_;
    for (const Buffers& rank : ranks_) {
        program.outputs.push_back(rank.at[static_cast<int>(Buffer::Output)]);
        program.output_places.push_back(rank.output);
    }
}

}  // namespace tutti::verify
