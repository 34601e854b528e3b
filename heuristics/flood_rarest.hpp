#pragma once

#include "heuristics/bit_rows.hpp"

#include <span>

namespace tutti::heuristics {

/// Rows of bits, as many as are counted one by one.
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

/// The words [first, first + count) of each row that is looked at.
struct Window {
    static constexpr std::size_t kMaxWords = 16;
    std::size_t first;  ///< a multiple of kBlockWords
    std::size_t count;  ///< a multiple of kBlockWords, at most kMaxWords
};

/// A window of chunks to choose from.
struct alignas(kBlockWords * sizeof(Word)) Choice {
    std::array<Word, Window::kMaxWords> words;
};

/// Has minus claimed minus all that is barred. Whether that is anything.
[[nodiscard]] bool candidates(const Word* has, const Word* claimed, const RowList& barred, Window window,
                              Choice& choice);

/// Keeps those that are in fewest of the rows. Precondition: there is a choice. O(words * rows).
void keep_rarest(const RowList& rows, Window window, Choice& choice);

}  // namespace tutti::heuristics
