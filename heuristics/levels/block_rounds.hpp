#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::heuristics {

/// One NPU sends a chunk to another. Numbers are relative to the root, which is 0.
struct BlockMessage {
    std::uint32_t from, to, chunk;
    friend bool operator==(const BlockMessage&, const BlockMessage&) = default;
};
/// Messages by round. In a round everybody sends at most once and receives at most once, and sends only what
/// it got in an earlier round; some messages may bring what the receiver has.
using BlockRounds = std::vector<std::vector<BlockMessage>>;

/// A broadcast of chunks among 2^q NPUs in chunks - 1 + q rounds: pairs exchange along one dimension of a
/// hypercube after the other. Precondition: npus is a power of two, chunks > 0. O(messages).
[[nodiscard]] BlockRounds cube_rounds(std::size_t npus, std::size_t chunks);

/// The same among any number n of NPUs in chunks - 1 + ceil(log2 n) rounds: in a round everybody sends to the
/// NPU that is so many places further on. O(messages + n log^2 n).
[[nodiscard]] BlockRounds circulant_rounds(std::size_t npus, std::size_t chunks);

}  // namespace tutti::heuristics
