#pragma once

#include "heuristics/bit_rows.hpp"

#include <span>

namespace tutti::heuristics {

/// The most neighbours that are counted one by one.
inline constexpr std::size_t kMaxNeighbours = 15;
/// The most words that one call looks at.
inline constexpr std::size_t kWindowWords = 16;

/// A window onto some rows of bits: the same words of each.
struct RarestQuery {
    const Word* has;                          ///< what the link's source has
    const Word* claimed;                      ///< what its destination has, expects or does not want
    std::span<const Word* const> barred;      ///< more sets that are not to be taken from
    std::span<const Word* const> neighbours;  ///< what the destination's neighbours have claimed; at most 15
    std::size_t words;                        ///< a multiple of kBlockWords, at most kWindowWords
};

/// Of has minus claimed minus barred, those that fewest neighbours have claimed, into `chosen`. Whether there
/// are any. All pointers aligned as rows are. O(words * neighbours).
[[nodiscard]] bool rarest(const RarestQuery& query, Word* chosen);

}  // namespace tutti::heuristics
