#pragma once

#include "compile/execution_lowering.hpp"
#include "compile/part.hpp"
#include "compile/places.hpp"

#include <cstdint>
#include <vector>

/// A plan in the making. The passes fill it from top to bottom.
namespace tutti::compile::execution {

struct Spot {
    plan::Buffer buffer = plan::Buffer::Scratch;
    std::int64_t index = 0;
    friend bool operator==(const Spot&, const Spot&) = default;
};

/// Neighbouring chunks that go the same ways in the same order, and lie side by side everywhere: moved
/// together. The first of them stands for all.
struct Unit {
    std::uint32_t first = 0;  ///< chunk of the part
    std::int64_t count = 1;
    std::vector<std::uint32_t> messages{};  ///< of the first chunk, in Part::messages, in order
};

/// Where a message is put at its receiver.
struct Landing {
    Spot spot{};
    /// It lies where the receiver keeps its value; otherwise it is added or copied to that place.
    bool direct = false;
};

/// What a thread block does; becomes an operation.
struct Task {
    enum class Kind : std::uint8_t { Put, Signal, Wait, Reduce, Copy, Nop, Barrier, Acquire, Release };
    Kind kind = Kind::Nop;
    std::vector<std::uint32_t> messages{};  ///< Put (one), Signal, Wait
    Spot src{}, other{}, dst{};             ///< Reduce adds src and other; `dst` of a Put is at the receiver
    std::int64_t count = 0;
    plan::SemaphoreId semaphore{};  ///< Acquire, Release
};

struct Block {
    std::uint32_t rank = 0;
    std::vector<Task> tasks{};
    std::uint32_t messages = 0;      ///< in and out
    std::vector<Task> at_the_end{};  ///< copies that wait for all blocks of the rank
};

struct Draft {
    const Part& part;
    const Places& places;
    bool in_place = true;
    plan::ChannelType channel = plan::ChannelType::Memory;

    std::vector<Unit> units{};
    std::vector<Landing> landings{};      ///< by message; only of those that stand for a unit
    std::vector<std::int64_t> scratch{};  ///< chunks, by rank
    std::vector<Block> blocks{};
    std::vector<std::int32_t> semaphores{};           ///< how many, by rank
    std::vector<std::uint32_t> sender{}, receiver{};  ///< block of each message

    /// Input and output of other chunks lie where this one's output does: all-to-all in place.
    [[nodiscard]] bool shares_places() const { return in_place && places.goal() == CollectiveKind::AllToAll; }
    [[nodiscard]] Spot fresh(std::uint32_t rank, std::int64_t count) {
        const Spot spot{plan::Buffer::Scratch, scratch[rank]};
        scratch[rank] += count;
        return spot;
    }
    /// Where a rank's value of a chunk lies at the start; where it must lie at the end.
    [[nodiscard]] std::optional<Spot> start(std::uint32_t rank, std::uint32_t chunk) const;
    [[nodiscard]] std::optional<Spot> end(std::uint32_t rank, std::uint32_t chunk) const;
};

/// The most messages of a thread block. Each may need a channel (16) and a remote buffer (16), and at most
/// three operations (64) with those that pass the work on to the next block.
inline constexpr std::uint32_t kMostMessages = 16;
inline constexpr std::size_t kMostChannelsOfOperation = 8;
inline constexpr std::size_t kMostOperations = 64;

/// Chunks that go the same ways are moved together.
void form_units(Draft& draft);
/// Where each message is put, so that nothing is overwritten that is still to be read.
void choose_landings(Draft& draft);
/// What the thread blocks of each rank do, in order of time.
void form_blocks(Draft& draft);
/// Channels, remote buffers and operations.
[[nodiscard]] plan::ExecutionPlan assemble(const Draft& draft);

}  // namespace tutti::compile::execution
