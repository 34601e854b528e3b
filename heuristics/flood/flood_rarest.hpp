#pragma once

#include "heuristics/flood/bit_rows.hpp"

#include <span>

namespace tutti::heuristics {

/// The same window of some bit rows, up to the number that can be counted.
class RowList {
  public:
    static constexpr std::size_t kMax = 15;
    void add(const Word* row) { rows_[count_++] = row; }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] bool full() const { return count_ == kMax; }
    [[nodiscard]] std::span<const Word* const> rows() const { return std::span(rows_).first(count_); }

  private:
    std::array<const Word*, kMax> rows_;
    std::size_t count_ = 0;
};

/// Some chunks to choose from: a window of a row.
struct alignas(kBlockWords * sizeof(Word)) Choice {
    std::array<Word, kWindowWords> words;
    std::size_t count;  ///< of words in use: a multiple of kBlockWords
};

/// Computes has minus claimed minus barred, `count` words of each. Whether the result is not empty.
[[nodiscard]] bool candidates(const Word* has, const Word* claimed, const RowList& barred, std::size_t count,
                              Choice& choice);

/// Which words of the choice are not empty: bit i stands for word i.
[[nodiscard]] std::uint16_t full_words(const Choice& choice);

/// Keeps those that are in fewest of the rows. Precondition: there is a choice. O(words * rows).
void keep_rarest(const RowList& rows, Choice& choice);

}  // namespace tutti::heuristics
