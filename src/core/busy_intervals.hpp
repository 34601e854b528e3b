#pragma once

#include "core/expects.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

/// The owner type of intervals without owners.
struct NoOwner {};

/// When one resource (a link, a hop) is busy: disjoint intervals [begin, end) in order of time, searched for
/// gaps. Everything that books time on links is built on it: heuristics/link_calendar, the local searches of
/// heuristics, the simulator of src/timing.
///
/// Without owners, intervals that touch are kept as one, so a resource without gaps costs one interval
/// however much it carries. With owners they stay apart.
///
/// `Time` is Ticks, whose sums are checked, or std::int64_t where the caller knows that nothing overflows.
/// All lengths are > 0. A search is O(log intervals + intervals skipped), a booking at the end O(1), any
/// other change O(intervals after it).
template <class Time, class Owner = NoOwner>
class BusyIntervals {
  public:
    struct Interval {
        Time begin, end;
        [[no_unique_address]] Owner owner{};
    };

    [[nodiscard]] std::span<const Interval> intervals() const { return busy_; }

    /// The first begin >= ready of a gap of that length.
    [[nodiscard]] Time earliest(Time ready, Time length) const {
        // The answer is usually after all bookings, or at their end.
        if (busy_.empty() || busy_.back().end <= ready) return ready;
        if (busy_.back().begin <= ready) return busy_.back().end;
        auto next = std::ranges::upper_bound(busy_, ready, {}, &Interval::end);
        for (; next != busy_.end() && next->begin < ready + length; ++next)
            ready = std::max(ready, next->end);
        return ready;
    }

    /// The last begin of a gap of that length that ends by `due`; it may be negative.
    [[nodiscard]] Time latest(Time due, Time length) const {
        auto next = std::ranges::lower_bound(busy_, due, {}, &Interval::begin);
        while (next != busy_.begin() && std::prev(next)->end > due - length) {
            --next;
            due = std::min(due, next->begin);
        }
        return due - length;
    }

    /// Precondition: begin < end, and nothing is booked between them.
    void book(Time begin, Time end, Owner owner = {}) {
        expects(begin < end && earliest(begin, end - begin) == begin);
        const auto next = busy_.empty() || busy_.back().end <= begin
                              ? busy_.end()
                              : std::ranges::lower_bound(busy_, begin, {}, &Interval::begin);
        if constexpr (std::is_same_v<Owner, NoOwner>) {
            const bool joins_next = next != busy_.end() && next->begin == end;
            const bool joins_last = next != busy_.begin() && std::prev(next)->end == begin;
            if (joins_last && joins_next) {
                std::prev(next)->end = next->end;
                busy_.erase(next);
                return;
            }
            if (joins_last) {
                std::prev(next)->end = end;
                return;
            }
            if (joins_next) {
                next->begin = begin;
                return;
            }
        }
        busy_.insert(next, {begin, end, std::move(owner)});
    }

    /// Removes a booking. Precondition: it was made.
    void release(Time begin, Time end) {
        const auto held = std::ranges::upper_bound(busy_, begin, {}, &Interval::end);
        expects(held != busy_.end() && held->begin <= begin && end <= held->end);
        const Interval whole = *held;
        if (whole.begin == begin && whole.end == end) {
            busy_.erase(held);
        } else if (whole.begin == begin) {
            held->begin = end;
        } else {
            held->end = begin;
            if (whole.end != end) busy_.insert(std::next(held), {end, whole.end, whole.owner});
        }
    }

    /// Drops intervals before `now`: no later search may ask for them.
    void forget_before(Time now) {
        busy_.erase(busy_.begin(), std::ranges::upper_bound(busy_, now, {}, &Interval::end));
    }

    void clear() { busy_.clear(); }

  private:
    std::vector<Interval> busy_;
};

}  // namespace tutti
