#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::heuristics {

using Word = std::uint64_t;
inline constexpr std::size_t kWordBits = 64;
/// Rows are aligned to and padded to so many words, one vector register.
inline constexpr std::size_t kBlockWords = 4;

/// A matrix of bits in rows that can be read vector by vector. The padding at the end of a row keeps the
/// value it was filled with.
class BitRows {
  public:
    BitRows() = default;
    BitRows(std::size_t rows, std::size_t columns, bool value = false)
        : blocks_per_row_((columns + kBits - 1) / kBits), blocks_(rows * blocks_per_row_) {
        if (value) {
            for (Block& block : blocks_) block.words.fill(~Word{0});
        }
    }
    /// Words in a row, with the padding.
    [[nodiscard]] std::size_t words() const { return blocks_per_row_ * kBlockWords; }
    [[nodiscard]] const Word* row(std::size_t r) const { return blocks_[r * blocks_per_row_].words.data(); }
    [[nodiscard]] Word* row(std::size_t r) { return blocks_[r * blocks_per_row_].words.data(); }
    [[nodiscard]] bool test(std::size_t r, std::size_t i) const {
        return ((row(r)[i / kWordBits] >> (i % kWordBits)) & 1U) != 0;
    }
    void set(std::size_t r, std::size_t i) { row(r)[i / kWordBits] |= Word{1} << (i % kWordBits); }
    void reset(std::size_t r, std::size_t i) { row(r)[i / kWordBits] &= ~(Word{1} << (i % kWordBits)); }

  private:
    static constexpr std::size_t kBits = kBlockWords * kWordBits;
    struct alignas(kBlockWords * sizeof(Word)) Block {
        std::array<Word, kBlockWords> words{};
    };
    std::size_t blocks_per_row_ = 0;
    std::vector<Block> blocks_;
};

}  // namespace tutti::heuristics
