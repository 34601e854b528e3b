#pragma once

#include "plan/program.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::verify {

/// Numbers the places that a program touches 0, 1, …, however large its memories claim to be. The places of
/// one range get consecutive numbers. Memory: O(ranges), time O(ranges log ranges).
class PlaceIndex {
  public:
    explicit PlaceIndex(const plan::Program& program);

    [[nodiscard]] std::uint32_t places() const { return places_; }
    /// The number of the first place of each of Program::ranges.
    [[nodiscard]] std::uint32_t first(std::size_t range) const { return first_of_range_[range]; }

    /// Places a … b-1 of a memory that are touched all have the numbers number … number+(b-a)-1.
    struct Stretch {
        std::int64_t first = 0, last = 0;  ///< half open
        std::uint32_t number = 0;
    };
    /// The touched stretches of a memory, sorted.
    [[nodiscard]] std::span<const Stretch> stretches(std::uint32_t memory) const {
        return std::span(stretches_).subspan(begin_[memory], begin_[memory + 1] - begin_[memory]);
    }
    /// Memory and place of a number.
    [[nodiscard]] std::pair<std::uint32_t, std::int64_t> place(std::uint32_t number) const;

  private:
    std::vector<Stretch> stretches_;
    std::vector<std::uint32_t> begin_;  ///< of each memory's stretches
    std::vector<std::uint32_t> first_of_range_;
    std::uint32_t places_ = 0;
};

}  // namespace tutti::verify
