#pragma once

#include "plan/buffer.hpp"
#include "plan/place.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace tutti::plan {

/// The common form to which every plan with thread blocks is lowered: operations that move and add chunks
/// between memories, and the order that the plan enforces among them. The verifier works on this form only
/// (verify/plan), so a new format needs a reader and a lowering, never a second decision procedure.
///
/// Memories are numbered 0, 1, …; aliases of in-place calls are resolved before anything enters a program, so
/// two accesses touch the same place exactly if memory and chunk are equal.

using OpId = std::uint32_t;
inline constexpr OpId kNoOp = std::numeric_limits<OpId>::max();

struct Memory {
    Rank gpu{};
    Buffer buffer = Buffer::Input;
    /// Reading waits until the place was written (MSCCL++ packets); the edge writer -> reader is in `edges`.
    /// Such places have no races, but all writes to one must have the same value.
    bool packets = false;
    std::int64_t chunks = 0;  ///< its size
    /// At the start place c holds (origin rank, c + origin_shift) for c in [known_first, known_last), and is
    /// undefined elsewhere.
    OptionalId<Rank> origin{};
    std::int64_t origin_shift = 0, known_first = 0, known_last = 0;
};

/// Consecutive places of a memory, from `first`; the move has their number.
struct Range {
    std::uint32_t memory = 0;
    std::int64_t first = 0;
};
/// The same in half the room, because there may be millions. Whoever makes a program refuses what goes
/// beyond.
struct PackedRange {
    std::uint32_t memory = 0;
    std::uint32_t first = 0;

    operator Range() const { return {memory, first}; }  // NOLINT(google-explicit-constructor)
};
/// Precondition: it can be packed.
[[nodiscard]] inline PackedRange packed(const Range& range) {
    return {range.memory, static_cast<std::uint32_t>(range.first)};
}
[[nodiscard]] inline bool can_be_packed(const Range& range, std::int64_t count) {
    return range.first + count <= std::numeric_limits<std::uint32_t>::max();
}

/// Place by place: value = sum of all reads (+ the value of the same place of the message), stored to all
/// writes. A move without writes only produces the message to which another op's `Op::message_from` refers.
struct Move {
    std::uint32_t first_read = 0;  ///< in Program::ranges
    std::uint32_t count = 0;
    std::uint32_t reads : 15 = 0;
    std::uint32_t writes : 15 = 0;  ///< behind the reads
    /// Its reads of packets do not wait: something else must order them after a write of the packet.
    bool raw_packets : 1 = false;

    /// Whoever makes a program refuses more.
    static constexpr std::uint32_t kMostOperands = (1U << 15U) - 1;

    /// Precondition: neither is more than kMostOperands.
    void set_operands(std::size_t read, std::size_t written) {
        reads = read & kMostOperands;
        writes = written & kMostOperands;
    }
    [[nodiscard]] std::uint32_t first_write() const { return first_read + reads; }
    /// Reads and writes.
    [[nodiscard]] std::uint32_t operands() const { return std::uint32_t{reads} + std::uint32_t{writes}; }
};

/// Where an op stands in its plan; of a Place what concerns an op, because there may be millions of them.
struct OpPlace {
    OptionalId<Rank> gpu{};
    OptionalId<BlockId> block{};
    OptionalId<StepId> step{}, inner{};

    operator Place() const {  // NOLINT(google-explicit-constructor)
        return {.gpu = gpu, .block = block, .step = step, .inner = inner};
    }
};
[[nodiscard]] inline OpPlace op_place(const Place& place) {
    return {place.gpu, place.block, place.step, place.inner};
}

struct Op {
    std::uint32_t first_move = 0, moves = 0;  ///< in Program::moves
    /// The op whose first move's value is received as a message and added to this op's first move.
    OpId message_from = kNoOp;
    /// Ops of one chain are totally ordered, in the order of their numbers; kNoChain: in no chain.
    std::uint32_t chain = kNoChain;
    static constexpr std::uint32_t kNoChain = std::numeric_limits<std::uint32_t>::max();
};

enum class EdgeKind : std::uint8_t {
    Order,       ///< program order of a thread block
    Dependency,  ///< depid/deps
    Message,     ///< k-th send, k-th receive
    Signal,      ///< signal, wait; semaphores
    Barrier,
    Packet,
    /// `to` is evaluated after `from`, but the edge orders no memory accesses: `from` is only one of several
    /// ops that `to` may have waited for.
    Weak
};

struct Edge {
    OpId from = kNoOp, to = kNoOp;
    EdgeKind kind = EdgeKind::Order;
};

struct Program {
    std::vector<Memory> memories{};
    std::vector<PackedRange> ranges{};
    std::vector<Move> moves{};
    std::vector<Op> ops{};
    /// By op; or empty, where whoever asks about the program knows them anyway.
    std::vector<OpPlace> op_places{};
    std::vector<Edge> edges{};  ///< happens-before is the transitive closure of all but the weak ones
    /// Instead of edges, where nobody asks for their kinds (in programs not kept): what op n comes after
    /// stands in `before` from first_before[n] on, up to first_before[n + 1].
    std::vector<std::uint32_t> first_before{};
    std::vector<OpId> before{};
    std::uint32_t chains = 0;
    /// Places per chunk of the file: more than one where thread block groups share a chunk.
    std::int64_t places_per_chunk = 1;
    /// The output of each gpu, by rank: memory, and the place of its chunk 0.
    std::vector<Range> outputs{};
    std::vector<std::int64_t> output_places{};  ///< their sizes, by rank

    [[nodiscard]] std::span<const Move> moves_of(const Op& op) const {
        return std::span(moves).subspan(op.first_move, op.moves);
    }
    [[nodiscard]] std::span<const PackedRange> reads_of(const Move& move) const {
        return std::span(ranges).subspan(move.first_read, move.reads);
    }
    [[nodiscard]] std::span<const PackedRange> writes_of(const Move& move) const {
        return std::span(ranges).subspan(move.first_write(), move.writes);
    }
};

}  // namespace tutti::plan
