#pragma once

#include "core/ids.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <ranges>

namespace tutti::plan {

// A GPU of a plan is identified by its rank in the collective (tutti::Rank).

using BlockId = Id<struct BlockTag>;  ///< a thread block of its GPU
using StepId = Id<struct StepTag>;    ///< a step or operation of its thread block, by position
/// MSCCL: which of the connections between two GPUs. MSCCL++: a channel of its GPU, among those of one type.
using ChannelId = Id<struct ChannelTag>;
using RemoteBufferId = Id<struct RemoteBufferTag>;  ///< of MSCCL++: as its GPU lists them
/// MSCCL++: the number by which operations of a thread block refer to one of its channels or remote buffers,
/// an index of the block's own lists of one type.
using Slot = Id<struct SlotTag>;
using ChunkOffset = Id<struct ChunkOffsetTag>;  ///< a chunk of a buffer
using ConnectionId = Id<struct ConnectionTag>;  ///< of MSCCL: as the verifier numbers them
using BarrierId = Id<struct BarrierTag>;        ///< of MSCCL++: of its GPU
using SemaphoreId = Id<struct SemaphoreTag>;    ///< of MSCCL++: as its GPU lists them
/// A node of a plan of sends, as its file numbers them. TE-CCL counts switches too; elsewhere node r is rank
/// r.
using PlanNode = Id<struct PlanNodeTag>;

/// Ranks 0, 1, … below `count`.
[[nodiscard]] inline auto ranks_below(std::int64_t count) {
    return std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(count)) |
           std::views::transform([](std::uint32_t rank) { return Rank(rank); });
}

/// The id of that number, which must not be negative.
template <class IdType>
[[nodiscard]] constexpr IdType id_of(std::int64_t number) {
    return IdType(static_cast<std::size_t>(number));
}
/// Verdicts and topologies know a node of a plan of sends by its number.
[[nodiscard]] constexpr Rank rank_of(PlanNode node) { return Rank(node.index()); }
/// Nodes 0, 1, … below `count`.
[[nodiscard]] inline auto nodes_below(std::int64_t count) {
    return std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(count)) |
           std::views::transform([](std::uint32_t node) { return PlanNode(node); });
}

/// The number as MSCCL's files write it: -1 for none.
template <class IdType>
[[nodiscard]] constexpr std::int64_t file_number(OptionalId<IdType> id) {
    return id ? std::int64_t{(*id).value()} : -1;
}
/// And back.
template <class IdType>
[[nodiscard]] constexpr OptionalId<IdType> id_from_file(std::int64_t number) {
    if (number < 0) return std::nullopt;
    return IdType(static_cast<std::size_t>(number));
}

}  // namespace tutti::plan

/// As its number.
template <class Tag>
struct fmt::formatter<tutti::Id<Tag>> : fmt::formatter<std::uint32_t> {
    template <class Context>
    auto format(tutti::Id<Tag> id, Context& context) const {
        return fmt::formatter<std::uint32_t>::format(id.value(), context);
    }
};
