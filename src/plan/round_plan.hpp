#pragma once

#include "core/collective.hpp"
#include "plan/buffer.hpp"
#include "plan/condition.hpp"
#include "plan/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::plan {

/// A chunk of a rank's buffer.
struct RoundPlace {
    Buffer buffer = Buffer::Input;
    std::uint32_t chunk = 0;
    friend auto operator<=>(const RoundPlace&, const RoundPlace&) = default;
};

/// What one rank does in a round. Chunks are neighbours at each of the places.
struct RoundStep {
    enum class Kind : std::uint8_t {
        Send,     ///< `from` to `peer`
        Receive,  ///< from `peer` to `to`
        Copy,     ///< to = from
        Add       ///< to = from + with, by the reduction of the call
    };
    Kind kind = Kind::Send;
    std::uint32_t round = 0;
    /// Messages have wave 0. Local steps of a round come after its messages, wave by wave; those of one wave
    /// may run at once.
    std::uint32_t wave = 0;
    std::uint32_t peer = 0;  ///< of messages
    RoundPlace to{}, from{}, with{};
    /// Which part of a block the first chunk is (RoundPlan::block_chunks): how many elements are moved.
    std::uint32_t piece = 0;
    std::uint32_t chunks = 1;
    friend bool operator==(const RoundStep&, const RoundStep&) = default;

    [[nodiscard]] bool is_message() const { return kind == Kind::Send || kind == Kind::Receive; }
    [[nodiscard]] bool reads() const { return kind != Kind::Receive; }
    [[nodiscard]] bool writes() const { return kind != Kind::Send; }
};

/// A plan for libraries that have nothing but messages between two ranks (MPI, NCCL's ncclSend and ncclRecv).
/// Every rank goes through the same rounds: in a round all its messages are started together and waited for,
/// then its local steps run. The k-th message of a round from a to b is the k-th that b receives from a in
/// that round. It may be an incorrect plan: the verifier decides.
///
/// A call has `count` elements in each block of `block_chunks` chunks; chunk c of an input or output begins
/// at element (c / b) * count + (c % b) * count / b, so that any count is served. A chunk of scratch has room
/// for the largest piece; what is written to several of them lies there without gaps.
struct RoundPlan {
    std::string name{};
    CollectiveKind kind = CollectiveKind::Custom;  ///< what it is for
    /// As what it is judged: `kind`, or Custom where relays take part or files have no name for it; then
    /// there is a condition.
    CollectiveKind goal = CollectiveKind::Custom;
    std::optional<Condition> condition{};
    std::optional<Rank> root{};
    std::uint32_t ranks = 0;
    std::uint32_t members = 0;       ///< ranks of the group: the first ones. The others are relays.
    std::vector<NodeId> npus{};      ///< by rank, where it is known
    std::uint32_t share = 1;         ///< chunks of a rank's part, where the goal has parts
    std::uint32_t block_chunks = 1;  ///< chunks that `count` elements are cut into
    std::vector<std::uint32_t> inputs{}, outputs{}, scratch{};  ///< chunks, by rank
    std::uint32_t rounds = 0;
    std::vector<std::vector<RoundStep>> steps{};  ///< by rank; sorted by round, then by wave
    /// Whether it is right if input and output share memory (in_place_shift). If not, calls in place have to
    /// save their input first.
    bool in_place = false;
    friend bool operator==(const RoundPlan&, const RoundPlan&) = default;

    /// Which output chunk of a rank input chunk 0 is in place; none: its buffers have nothing in common.
    [[nodiscard]] std::optional<std::int64_t> in_place_shift(std::uint32_t rank) const {
        const bool rooted = kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
        if (rank >= members || (rooted && root != Rank(rank))) return std::nullopt;
        const std::int64_t before = std::int64_t{rank} * share;
        switch (kind) {
            case CollectiveKind::AllGather:
            case CollectiveKind::Gather:
                return before;
            case CollectiveKind::ReduceScatter:
            case CollectiveKind::Scatter:
                return -before;
            default:
                return 0;
        }
    }
    [[nodiscard]] bool reduces() const {
        for (const auto& of_rank : steps) {
            for (const RoundStep& step : of_rank) {
                if (step.kind == RoundStep::Kind::Add) return true;
            }
        }
        return false;
    }
    [[nodiscard]] std::size_t size() const {
        std::size_t all = 0;
        for (const auto& of_rank : steps) all += of_rank.size();
        return all;
    }
};

/// The first element of a chunk of an input or output, in a call of `count` elements.
[[nodiscard]] constexpr std::uint64_t first_element(std::uint64_t chunk, std::uint64_t block_chunks,
                                                    std::uint64_t count) {
    return chunk / block_chunks * count + chunk % block_chunks * count / block_chunks;
}
/// How many elements a step moves.
[[nodiscard]] constexpr std::uint64_t elements_of(const RoundStep& step, std::uint64_t block_chunks,
                                                  std::uint64_t count) {
    return first_element(step.piece + step.chunks, block_chunks, count) -
           first_element(step.piece, block_chunks, count);
}

}  // namespace tutti::plan
