#include "bounds/room.hpp"

#include "core/expects.hpp"

namespace tutti::bounds {

bool enough(std::span<const Room> rooms, Wide weight, Ticks end) {
    Wide total = 0;
    for (const Room& room : rooms) {
        total += Wide{room.sends(end)} * room.weight;
        if (total >= weight) return true;
    }
    return false;
}

std::optional<Ticks> least_end(std::span<const Room> rooms, Wide weight) {
    expects(weight > 0);
    // By doubling, because the time that a single link would take may not fit into 64 bits.
    constexpr std::int64_t kLatest = std::int64_t{1} << 61;
    std::int64_t low = 0, high = 1;
    while (!enough(rooms, weight, Ticks(high))) {
        low = high + 1;
        if (high >= kLatest) return std::nullopt;
        high *= 2;
    }
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (enough(rooms, weight, Ticks(middle))) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return Ticks(high);
}

}  // namespace tutti::bounds
