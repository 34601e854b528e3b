#pragma once

#include "compile/execution_lowering.hpp"
#include "compile/msccl/draft.hpp"

#include <cstdint>
#include <vector>

/// A plan in the making. What moves, where it lies and on which connection comes from the passes that MSCCL
/// plans are made with (compile/msccl); the passes here fill the rest from top to bottom.
namespace tutti::compile::execution {

/// Where a transfer is put at its receiver.
struct Landing {
    plan::Address at{};
    /// It lies where the receiver keeps its value; otherwise it is added or copied to that place.
    bool direct = false;
};

/// What a thread block does; becomes an operation.
struct Task {
    enum class Kind : std::uint8_t { Put, Signal, Wait, Reduce, Copy, Nop, Barrier, Acquire, Release };
    Kind kind = Kind::Nop;
    std::uint32_t transfer = 0;           ///< Put, Signal, Wait
    plan::Address src{}, other{}, dst{};  ///< Reduce adds src and other; `dst` of a Put is at the receiver
    std::int32_t count = 0;               ///< chunks
    std::vector<plan::SemaphoreId> semaphores{};  ///< Acquire, Release
};

struct Block {
    std::uint32_t rank = 0;
    std::vector<Task> tasks{};
};

struct Draft {
    msccl::Draft& moves;  ///< transfers and lanes; `scratch` grows by the landings
    bool in_place = true;
    plan::ChannelType channel = plan::ChannelType::Memory;

    std::vector<Landing> landings{};  ///< by transfer
    std::vector<Block> blocks{};
    std::vector<std::int32_t> semaphores{};           ///< how many, by rank
    std::vector<std::uint32_t> sender{}, receiver{};  ///< block of each transfer

    [[nodiscard]] std::uint32_t ranks() const { return moves.part.ranks; }
    [[nodiscard]] const msccl::Transfer& transfer(std::uint32_t i) const { return moves.transfers[i]; }
};

/// The executor's limits of a thread block. Each transfer may need a channel and a remote buffer of its own.
inline constexpr std::size_t kMostTransfers = 16;
inline constexpr std::size_t kMostOperations = 64;
inline constexpr std::size_t kMostSemaphores = 16;  ///< of one operation

/// Where each transfer is put, so that nothing is overwritten that is still to be read.
void choose_landings(Draft& draft);
/// What the thread blocks of each rank do, in order of time. Throws InputError where a rank would need more
/// of them than can run.
void form_blocks(Draft& draft);
/// Channels, remote buffers and operations.
[[nodiscard]] plan::ExecutionPlan assemble(const Draft& draft);

}  // namespace tutti::compile::execution
