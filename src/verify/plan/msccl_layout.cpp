#include "verify/plan/msccl_layout.hpp"

#include "core/expects.hpp"
#include "verify/plan/in_place.hpp"

#include <algorithm>

namespace tutti::verify {

using plan::Buffer;

MscclLayout::MscclLayout(const std::vector<const plan::Gpu*>& gpus, const plan::CallSizes& sizes,
                         bool in_place, std::optional<Rank> root) {
    ranks_.resize(gpus.size());
    memories_.reserve(gpus.size() * plan::kBuffers);
    for (const Rank rank : plan::ranks_below(std::ssize(gpus)))
        lay_out(rank, *gpus[rank.index()], sizes, in_place, root);
}

void MscclLayout::lay_out(Rank rank, const plan::Gpu& gpu, const plan::CallSizes& sizes, bool in_place,
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
    if (aliased) share_memory(sizes.goal, rank.value() * sizes.share, in, out);
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
    expects(address.offset && (*address.offset).value() <= room(gpu, address.buffer));
    plan::Range range = ranks_[gpu.index()].at[static_cast<int>(address.buffer)];
    range.first += (*address.offset).value();
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
