#pragma once

#include "heuristics/lockstep/lockstep_lines.hpp"

#include <bit>

// How the lockstep engine chooses a chunk for a link, and its random numbers: inlined into its two loops, not
// for use elsewhere.

namespace tutti::heuristics::lockstep_choice {

inline std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// The hash for the i-th part of a decision. Only its high bits are good.
inline std::uint64_t part(std::uint64_t hash, std::uint64_t i) { return (hash + i) * 0x9E3779B97F4A7C15ULL; }

/// Uniform below limit, from the high bits.
inline std::uint32_t below(std::uint64_t hash, std::uint32_t limit) {
    return static_cast<std::uint32_t>(((hash >> 32) * limit) >> 32);
}

inline std::uint32_t some_bit(std::uint64_t word, int turn) {
    return static_cast<std::uint32_t>(std::countr_zero(std::rotr(word, turn)) + turn) & 63U;
}

typedef std::uint64_t Lanes __attribute__((vector_size(64), may_alias));
typedef std::int8_t Flags __attribute__((vector_size(8)));

/// A byte of ones for each word that is not zero.
[[gnu::always_inline]] inline std::uint64_t nonzero(const Lanes& lanes) {
    const auto flags = __builtin_convertvector(lanes != 0, Flags);
    return std::bit_cast<std::uint64_t>(flags);
}

[[gnu::always_inline]] inline const Lanes& lanes_of(const ChunkLine& line) {
    return *reinterpret_cast<const Lanes*>(line.words.data());
}

/// A random chunk of `theirs` that is not in `own`, if possible one that is in neither of the near lines.
[[gnu::always_inline]] inline std::uint32_t choice(const ChunkLine& theirs, const Lanes& own,
                                                   const ChunkLine& near1, const ChunkLine& near2,
                                                   std::uint64_t random) {
    Lanes best = lanes_of(theirs) & ~own;
    const Lanes rare = best & ~(lanes_of(near1) | lanes_of(near2));
    std::uint64_t words = nonzero(rare);
    if (words != 0) {
        best = rare;
    } else {
        words = nonzero(best);
        if (words == 0) return ~std::uint32_t{0};
    }
    const int first = static_cast<int>(random >> 61) * 8;
    const int rotation = static_cast<int>(random >> 55) & 63;
    const auto w = static_cast<std::uint32_t>((std::countr_zero(std::rotr(words, first)) + first) & 63) / 8;
    ChunkLine line;
    *reinterpret_cast<Lanes*>(line.words.data()) = best;
    return w * 64 + some_bit(line.words[w], rotation);
}

/// All ones in one word.
inline constexpr auto kOneLane = [] {
    std::array<ChunkLine, ChunkLine::kWords> lanes{};
    for (std::size_t w = 0; w < lanes.size(); ++w) lanes[w].words[w] = ~std::uint64_t{0};
    return lanes;
}();

}  // namespace tutti::heuristics::lockstep_choice
