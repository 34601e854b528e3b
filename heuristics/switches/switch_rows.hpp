#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// Rows of bits, 64 to a word; the unused bits of a row's last word are unspecified.
class BitTable {
  public:
    using Word = std::uint64_t;
    BitTable(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_, 0) {}

    [[nodiscard]] std::span<Word> row(std::size_t r) { return std::span(bits_).subspan(r * words_, words_); }
    [[nodiscard]] std::span<const Word> row(std::size_t r) const {
        return std::span(bits_).subspan(r * words_, words_);
    }
    [[nodiscard]] bool test(std::size_t r, std::size_t i) const {
        return ((bits_[r * words_ + i / 64] >> (i % 64)) & 1U) != 0;
    }
    void set(std::size_t r, std::size_t i) { bits_[r * words_ + i / 64] |= Word{1} << (i % 64); }
    void reset(std::size_t r, std::size_t i) { bits_[r * words_ + i / 64] &= ~(Word{1} << (i % 64)); }
    void fill() { std::ranges::fill(bits_, ~Word{0}); }

  private:
    std::size_t words_;
    std::vector<Word> bits_;
};

}  // namespace tutti::heuristics
