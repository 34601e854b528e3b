#include "run/rank_arrays.hpp"

#include <algorithm>

namespace tutti::run {

namespace {

[[nodiscard]] RankArrays::Part part_of(const Layout& layout, std::uint32_t memory, std::int64_t first,
                                       std::int64_t places) {
    const std::int64_t begin = layout.first(memory, first);
    return {memory, first, places, static_cast<std::size_t>(begin),
            static_cast<std::size_t>(layout.first(memory, first + places) - begin)};
}

}  // namespace

RankArrays arrays_of(const Executable& executable, const Layout& layout, Rank rank) {
    RankArrays arrays;
    const plan::Range& output = executable.outputs[rank.index()];
    arrays.output = part_of(layout, output.memory, output.first, executable.output_places[rank.index()]);
    arrays.input = part_of(layout, output.memory, 0, 0);
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
        const ExecutableMemory& here = executable.memories[memory];
        if (here.gpu == rank && here.origin)
            arrays.input = part_of(layout, memory, here.known_first, here.known_last - here.known_first);
    }
    return arrays;
}

RankArrays::Part all_of(const Executable& executable, const Layout& layout, std::uint32_t memory) {
    return part_of(layout, memory, 0, executable.memories[memory].places);
}

std::optional<std::int64_t> count_of(const Executable& executable, const RankArrays::Part& part,
                                     std::int64_t elements) {
    if (part.places == 0) return std::nullopt;
    const std::int64_t block = executable.memories[part.memory].block;
    std::int64_t count = 0;
    if (block > 0) {
        count = elements / std::max<std::int64_t>(part.places / block, 1);
    } else {
        std::int64_t most = 1;
        for (const ExecutableMemory& other : executable.memories) {
            if (other.buffer != plan::Buffer::Scratch) most = std::max(most, other.places);
        }
        count = elements / part.places * most;
    }
    const Layout layout(executable, count);
    const auto found = part_of(layout, part.memory, part.first_place, part.places).elements;
    return static_cast<std::int64_t>(found) == elements ? std::optional(count) : std::nullopt;
}

}  // namespace tutti::run
