#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::heuristics {

using Word = std::uint64_t;
inline constexpr std::size_t kWordBits = 64;
/// Rows are aligned and padded to this many words, one vector register.
inline constexpr std::size_t kBlockWords = 4;

/// The most contiguous words of a row.
inline constexpr std::size_t kWindowWords = 16;

/// A bit matrix whose rows can be read vector by vector. Long rows are divided into **windows**, and the same
/// window of all rows is stored contiguously, so that reading one window of many rows stays in the cache. The
/// padding at the end of a row keeps the value it was filled with.
class BitRows {
  public:
    BitRows() = default;
    BitRows(std::size_t rows, std::size_t columns, bool value = false) {
        const std::size_t words = (columns + kBits - 1) / kBits * kBlockWords;
        is_cut_ = words > kWindowWords;
        window_words_ = is_cut_ ? kCutWords : words;
        windows_ = is_cut_ ? (words + kCutWords - 1) / kCutWords : 1;
        stride_ = rows * window_words_;
        Block block;
        if (value) block.words.fill(~Word{0});
        blocks_.assign(windows_ * stride_ / kBlockWords, block);
    }
    [[nodiscard]] std::size_t windows() const { return windows_; }
    [[nodiscard]] std::size_t window_words() const { return window_words_; }
    [[nodiscard]] const Word* window(std::size_t r, std::size_t k) const {
        return blocks_.data()->words.data() + k * stride_ + r * window_words_;
    }
    [[nodiscard]] Word& word(std::size_t r, std::size_t w) {
        return blocks_.data()->words.data()[place(r, w)];
    }
    [[nodiscard]] bool test(std::size_t r, std::size_t i) const {
        return ((blocks_.data()->words.data()[place(r, i / kWordBits)] >> (i % kWordBits)) & 1U) != 0;
    }
    void set(std::size_t r, std::size_t i) { word(r, i / kWordBits) |= Word{1} << (i % kWordBits); }

  private:
    static constexpr std::size_t kBits = kBlockWords * kWordBits;
    static constexpr std::size_t kCutWords = 8;  ///< a cache line, and a power of two
    struct alignas(kBlockWords * sizeof(Word)) Block {
        std::array<Word, kBlockWords> words{};
    };
    [[nodiscard]] std::size_t place(std::size_t r, std::size_t w) const {
        return is_cut_ ? w / kCutWords * stride_ + r * kCutWords + w % kCutWords : r * window_words_ + w;
    }
    bool is_cut_ = false;
    std::size_t window_words_ = 0;
    std::size_t windows_ = 0;
    std::size_t stride_ = 0;
    std::vector<Block> blocks_;
};

}  // namespace tutti::heuristics
