#pragma once

#include "core/expects.hpp"
#include "core/ticks.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tutti::heuristics {

/// Who uses each hop when: for each hop its transfers in order of start. Unlike LinkCalendar it knows whose
/// they are, so they can be taken back.
class Reservations {
  public:
    struct Slot {
        Ticks start, end;
        std::uint32_t owner;
    };
    explicit Reservations(std::size_t hops) : slots_(hops) {}

    [[nodiscard]] const std::vector<Slot>& slots(std::size_t hop) const { return slots_[hop]; }

    /// The first start >= ready from which the hop is free for `length`. O(log slots + slots skipped).
    [[nodiscard]] Ticks earliest(std::size_t hop, Ticks ready, Ticks length) const {
        const auto& slots = slots_[hop];
        auto next = std::ranges::partition_point(slots, [&](const Slot& slot) { return slot.end <= ready; });
        Ticks start = ready;
        for (; next != slots.end() && next->start < start + length; ++next)
            start = std::max(start, next->end);
        return start;
    }
    /// Precondition: the hop is free then.
    void add(std::size_t hop, Slot slot) {
        expects(earliest(hop, slot.start, slot.end - slot.start) == slot.start);
        auto& slots = slots_[hop];
        slots.insert(std::ranges::upper_bound(slots, slot.start, {}, &Slot::start), slot);
    }
    /// Precondition: a transfer starts then.
    void remove(std::size_t hop, Ticks start) {
        auto& slots = slots_[hop];
        const auto found = std::ranges::lower_bound(slots, start, {}, &Slot::start);
        expects(found != slots.end() && found->start == start);
        slots.erase(found);
    }

  private:
    std::vector<std::vector<Slot>> slots_;
};

}  // namespace tutti::heuristics
