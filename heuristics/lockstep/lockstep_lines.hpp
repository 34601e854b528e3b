#pragma once

#include "core/huge_pages.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tutti::heuristics {

/// One node's chunks of one block: 512 bits, a cache line.
struct alignas(64) ChunkLine {
    static constexpr std::uint32_t kWords = 8;
    static constexpr std::uint32_t kChunks = 64 * kWords;
    std::array<std::uint64_t, kWords> words{};

    void add(std::uint32_t chunk) { words[chunk / 64] |= std::uint64_t{1} << (chunk % 64); }
    friend bool operator==(const ChunkLine&, const ChunkLine&) = default;
};

using ChunkLines = std::vector<ChunkLine, HugePages<ChunkLine>>;

}  // namespace tutti::heuristics
