#pragma once

#include "heuristics/levels/block_rounds.hpp"

namespace tutti::heuristics {

/// A broadcast from NPU 0 in which its partners change.
struct LateRounds {
    BlockRounds rounds;
    /// By chunk: whom the root sends it to, in the round of that number. It sends nothing in that round, so
    /// that it can send something to the root. Nobody is partner once more often than anybody else.
    std::vector<std::uint32_t> partners;
};

/// A broadcast of chunks among 2^q NPUs in chunks - 1 + q rounds. Precondition: npus is a power of two, at
/// least 4; chunks > 0. O(rounds * npus^2).
[[nodiscard]] LateRounds late_rounds(std::size_t npus, std::size_t chunks);

}  // namespace tutti::heuristics
