#pragma once

#include "core/expects.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tutti {

/// A small seeded generator (splitmix64) whose numbers are the same on every machine.
class Rng {
  public:
    explicit Rng(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    /// Uniform in [0, limit). Precondition: limit > 0.
    std::uint64_t below(std::uint64_t limit) {
        expects(limit > 0);
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * limit) >> 64);
    }
    /// An independent generator, for a part of the work.
    [[nodiscard]] Rng split() { return Rng(next()); }

    template <class Range>
    void shuffle(Range& range) {
        for (std::size_t i = range.size(); i > 1; --i) std::swap(range[i - 1], range[below(i)]);
    }

  private:
    std::uint64_t state_;
};

}  // namespace tutti
