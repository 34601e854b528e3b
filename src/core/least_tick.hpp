#pragma once

#include "core/ticks.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

/// The least tick from `from` on at which `enough(tick)` holds; none up to 2^61. By doubling, because what a
/// single link would take may not fit into 64 bits. O(log of the answer) calls. Preconditions: once it holds
/// it holds for good, and from >= 0.
template <class Enough>
[[nodiscard]] std::optional<Ticks> least_tick(const Enough& enough, Ticks from = Ticks(0)) {
    constexpr std::int64_t kLatest = std::int64_t{1} << 61;
    std::int64_t low = from.count(), step = 1;
    while (!enough(Ticks(low + step))) {
        low += step + 1;
        if (low >= kLatest) return std::nullopt;
        step *= 2;
    }
    std::int64_t high = low + step;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (enough(Ticks(middle))) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return Ticks(high);
}

}  // namespace tutti
