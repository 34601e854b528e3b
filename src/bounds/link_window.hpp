#pragma once

#include "core/ticks.hpp"

#include <optional>
#include <span>

namespace tutti::bounds {

__extension__ using Wide = __int128;  ///< sums of lengths times transfers

/// When one link can be of use: its first send starts no sooner than `first`, its last one no later than
/// `last` before the end, and two start at least `busy` apart. Either may be kNever: then it is of none.
struct LinkWindow {
    Ticks first;
    Ticks last;
    Ticks busy;
    std::int64_t weight = 1;

    /// How many sends can start if all has ended by `end`.
    [[nodiscard]] std::int64_t sends(Ticks end) const {
        if (first == Ticks::max() || last == Ticks::max()) return 0;
        const std::int64_t slack = end.count() - first.count() - last.count();
        return slack < 0 ? 0 : slack / busy.count() + 1;
    }
};

/// Whether the links manage sends of so much weight together by `end`.
[[nodiscard]] bool enough(std::span<const LinkWindow> windows, Wide weight, Ticks end);

/// The least end by which they do; none if they never do. Precondition: weight > 0. O(links log time).
[[nodiscard]] std::optional<Ticks> least_end(std::span<const LinkWindow> windows, Wide weight);

}  // namespace tutti::bounds
