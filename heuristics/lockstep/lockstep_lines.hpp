#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tutti::heuristics {

/// One node's chunks of one block: 512 bits, a cache line.
struct alignas(64) ChunkLine {
    static constexpr std::uint32_t kWords = 8;
    static constexpr std::uint32_t kChunks = 64 * kWords;
    std::array<std::uint64_t, kWords> words{};

    void add(std::uint32_t chunk) { words[chunk / 64] |= std::uint64_t{1} << (chunk % 64); }
    friend bool operator==(const ChunkLine&, const ChunkLine&) = default;
};

/// Very many empty lines, in huge pages where the system has them: searches look at lines all over the place,
/// and would otherwise spend their time looking up where pages are.
class ChunkLines {
  public:
    ChunkLines() = default;
    explicit ChunkLines(std::size_t count);
    [[nodiscard]] ChunkLine* begin() { return lines_.get(); }

  private:
    struct Free {
        void operator()(ChunkLine* lines) const;
    };
    std::unique_ptr<ChunkLine, Free> lines_;
};

}  // namespace tutti::heuristics
