#include "compile/rank_memory.hpp"

namespace tutti::compile {

RankMemory in_place_memory(CollectiveKind goal, std::uint32_t rank, RankMemory memory) {
    memory.in_place = true;
    memory.shift = 0;
    const bool gathers = goal == CollectiveKind::AllGather || goal == CollectiveKind::Gather;
    const bool scatters = goal == CollectiveKind::ReduceScatter || goal == CollectiveKind::Scatter;
    if (gathers) memory.shift = -std::int64_t{rank} * memory.inputs;
    if (scatters) memory.shift = std::int64_t{rank} * memory.outputs;
    return memory;
}

}  // namespace tutti::compile
