#pragma once

#include "compile/rank_memory.hpp"
#include "plan/execution_plan.hpp"

#include <cstdint>
#include <vector>

/// A plan in the making. The upper part is filled from the graph of a schedule or program (graph_draft): what
/// moves, where it is put, and in which order and line of work each rank does what.
namespace tutti::compile::execution {

/// A message: the sender puts it into the receiver's memory, or lets the receiver read it.
struct Move {
    std::uint32_t from = 0, to = 0;
    plan::Address source{};   ///< where the sender reads it
    plan::Address landing{};  ///< where it is put; else than `target` it is added or copied from there
    plan::Address operand{};  ///< what the receiver adds it to; only where it reduces
    plan::Address target{};   ///< where the receiver keeps it
    std::int32_t count = 0;   ///< chunks
    bool reduces = false;
    bool is_read = false;     ///< the receiver adds it from the sender's memory; it lands nowhere
    plan::Address staging{};  ///< of packets on port channels: where the sender makes them
};

/// A copy within a rank's memory, or a sum with what is in `dst`.
struct LocalMove {
    plan::Address src{}, dst{};
    std::int32_t count = 0;
    bool reduces = false;
};

/// What a rank does for a move.
struct Work {
    enum class Kind : std::uint8_t { Receive, Send, Local } kind = Kind::Send;
    std::uint32_t move = 0;  ///< of Local: in `locals`
    std::uint32_t line = 0;  ///< works of one line are done by one thread block, one after the other
};

/// What a thread block does; becomes an operation.
struct Task {
    enum class Kind : std::uint8_t {
        Put,
        Pack,  ///< makes the packets that are put
        Signal,
        Wait,
        Reduce,
        ReducePut,      ///< Reduce, and the sum is put as well
        ReadReduce,     ///< Reduce, and what is added is read from the sender of the move `read`
        ReadReducePut,  ///< ReadReduce, and the sum is put as well
        Copy,
        Nop,
        Barrier,
        Acquire,
        Release
    };
    Kind kind = Kind::Nop;
    std::uint32_t move = 0;               ///< Put, Pack, Signal, Wait, ReducePut, ReadReducePut
    plan::Address src{}, other{}, dst{};  ///< Reduce adds src and other; `dst` of a Put is at the receiver
    bool unpacks = false;                 ///< Reduce, Copy: what came (other, src) are packets
    std::int32_t count = 0;               ///< chunks
    std::vector<plan::SemaphoreId> semaphores{};  ///< Acquire, Release
    std::uint32_t read = 0;                       ///< ReadReduce, ReadReducePut
};

struct Block {
    std::uint32_t rank = 0;
    std::vector<Task> tasks{};
};

/// One rank of a plan in the making.
struct RankDraft {
    std::int64_t inputs = 0, outputs = 0, scratch = 0;  ///< chunks
    RankMemory places{};                                ///< without those where messages land
    std::uint32_t lines = 0;
    std::vector<Work> works{};             ///< in an order in which they can be done
    std::vector<LocalMove> copies{};       ///< that nothing waits for, of what is there from the start
    std::vector<LocalMove> last_copies{};  ///< that are made when everything else of the rank is done
};

struct Draft {
    bool in_place = true;
    plan::ChannelType channel = plan::ChannelType::Memory;
    /// Messages are packets, which say themselves that they have come: no signals. Each lands in scratch of
    /// its own.
    bool packets = false;
    std::vector<Move> moves{};
    std::vector<LocalMove> locals{};
    std::vector<RankDraft> of_rank{};

    std::vector<Block> blocks{};
    std::vector<std::int32_t> semaphores{};           ///< how many, by rank
    std::vector<std::uint32_t> sender{}, receiver{};  ///< block of each move

    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(of_rank.size()); }
};

/// The executor's limits of a thread block. Each move may need a channel and a remote buffer of its own.
inline constexpr std::size_t kMostMoves = 16;
inline constexpr std::size_t kMostOperations = 64;
inline constexpr std::size_t kMostSemaphores = 16;  ///< of one operation

/// What the thread blocks of each rank do. Throws InputError where a rank would need more of them than can
/// run.
void form_blocks(Draft& draft);
/// Channels, remote buffers and operations.
[[nodiscard]] plan::ExecutionPlan assemble(const Draft& draft);

}  // namespace tutti::compile::execution
