#pragma once

#include "run/executable.hpp"

#include <cstdint>
#include <vector>

namespace tutti::run {

/// Where the places of an executable's memories are when it is called with a number of elements: those of a
/// rank's share, where the collective has shares, else those of the larger buffer.
///
/// A block of b places and `count` elements has place c at [c·s, (c+1)·s), s = ⌈count / b⌉, as far as the
/// block has elements; so its last places may be shorter, or empty, and no count is refused. A plan may keep
/// a whole chunk for a while in a place that is shorter. So what a place lacks is in a spare memory, which
/// each memory has besides the caller's.
///
/// All places are worked on element by element alike, so a call falls into stretches of elements of a place
/// in which each place is wholly in the caller's memory or wholly in the spare one: at most two.
class Layout {
  public:
    Layout(const Executable& executable, std::int64_t count);

    [[nodiscard]] std::int64_t count() const { return count_; }
    /// Elements of a place that is whole.
    [[nodiscard]] std::int64_t stride() const { return stride_; }
    /// Elements that a memory must have.
    [[nodiscard]] std::int64_t elements(std::uint32_t memory) const;
    [[nodiscard]] std::int64_t spare_elements(std::uint32_t memory) const;

    /// How many elements a place of the memory has in the caller's memory.
    [[nodiscard]] std::int64_t length(std::uint32_t memory, std::int64_t place) const;
    /// The first of them.
    [[nodiscard]] std::int64_t first(std::uint32_t memory, std::int64_t place) const;
    /// The element of the spare memory that would be the place's first one. Precondition: it is not whole.
    [[nodiscard]] std::int64_t spare_first(std::uint32_t memory, std::int64_t place) const;

    struct Stretch {
        std::int64_t first = 0, last = 0;
    };
    /// Without empty ones.
    [[nodiscard]] const std::vector<Stretch>& stretches() const { return stretches_; }

  private:
    const Executable* executable_;
    std::int64_t count_ = 0, block_ = 0, stride_ = 0;
    std::int64_t whole_ = 0;  ///< places of a block that are whole
    std::vector<Stretch> stretches_;
};

}  // namespace tutti::run
