#pragma once

#include "core/schedule.hpp"
#include "verify/report.hpp"

#include <memory>
#include <vector>

namespace tutti::verify {

/// A send that enters or leaves a cut-through switch. Its link stays busy for the slowest link of the whole
/// transfer, part of which is only known later; so the leg stores its successor on the link.
struct Leg {
    LinkId link;
    ChunkId chunk;
    Ticks start;
    Ticks pace;   ///< the largest beta on the way up to and including this link
    Ticks rated;  ///< the beta its link is busy for: the pace, and those of the legs behind
    std::uint64_t position = 0;
    std::vector<std::shared_ptr<Leg>> feeders;
    Ticks next_start = Ticks::max();
    std::uint64_t next_position = 0;
};
using LegPtr = std::shared_ptr<Leg>;

/// V5: no link carries two transfers at once. Bookings come in order of start.
class LinkLedger {
  public:
    /// The last transfer on a link between storing nodes.
    struct Booking {
        Ticks free_at;
        std::uint64_t position = 0;
    };

    LinkLedger(const Instance& instance, Report& report);

    /// For callers that check `free_at` themselves. A booking of a free link is undone by an empty one,
    /// because earlier bookings no longer matter.
    [[nodiscard]] std::span<Booking> bookings() { return bookings_; }

    /// A send on a link between storing nodes.
    void book(const Send& send, Ticks beta, std::uint64_t position);
    /// A send on a link that touches a cut-through switch.
    void book(const LegPtr& leg);

  private:
    void slow_down(Leg& leg, Ticks beta);
    void report_overlap(LinkId link, ChunkId chunk, Ticks tick, std::uint64_t earlier, std::uint64_t later);

    const Instance& instance_;
    Report& report_;
    std::vector<Booking> bookings_;
    std::vector<LegPtr> last_leg_;  ///< empty when no switch cuts through
};

}  // namespace tutti::verify
