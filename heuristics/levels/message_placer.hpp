#pragma once

#include "core/schedule.hpp"
#include "heuristics/link_calendar.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// Messages with their times. Each is placed at the earliest tick at which all its links are free.
///
/// Backwards, time runs the other way: a message is received first and sent last, so that a chunk that
/// spreads from its root is a reduction to it. `mirrored` turns it round.
class MessagePlacer {
  public:
    enum class Direction { Forwards, Backwards };
    /// The instance must outlive this.
    MessagePlacer(const Instance& instance, Direction direction);

    /// When a message starts and ends, in the placer's time.
    struct Span {
        Ticks start, end;
    };
    /// A chunk's way from an NPU to another, over the given links in the direction of travel. Where a plain
    /// chunk can wait in a switch, it may. Backwards: precondition: a reduction.
    /// Forwards, of a reduction: precondition: with Op::Copy the sum is complete.
    Span place(ChunkId chunk, std::span<const LinkId> links, Ticks ready, Op op);
    /// The same without waiting in a switch. Backwards: also for a plain chunk with one message.
    Span place_rigid(ChunkId chunk, std::span<const LinkId> links, Ticks ready, Op op);
    /// The start of the first without placing it.
    [[nodiscard]] Ticks earliest(ChunkId chunk, std::span<const LinkId> links, Ticks ready, Op op = Op::Copy);

    /// The end of the last message.
    [[nodiscard]] Ticks makespan() const { return makespan_; }
    /// The same messages forwards, as reductions, `later` later than the first could be.
    /// Precondition: this is backwards.
    [[nodiscard]] MessagePlacer mirrored(Ticks later) const;

    /// Precondition: this is forwards.
    [[nodiscard]] Schedule schedule() const;

    /// A message as it was placed.
    struct Placed {
        ChunkId chunk;
        std::vector<LinkId> links;  ///< in the direction of travel
        Ticks start;                ///< in the placer's time
    };
    /// All of them, in the order of their placing.
    [[nodiscard]] std::vector<Placed> messages() const;

  private:
    /// A stretch of a message on which the chunk does not wait.
    struct Piece {
        ChunkId chunk;
        std::uint32_t links;  ///< how many of links_, after those of the pieces before
        Ticks start;
        Op op;
    };
    /// Sets legs_ in the placer's time. Returns the time from start to end.
    Ticks find_legs(ChunkId chunk, std::span<const LinkId> links);
    /// The number of links up to the first switch in which a chunk may wait.
    [[nodiscard]] std::size_t up_to_buffer(std::span<const LinkId> links) const;
    [[nodiscard]] bool may_wait(ChunkId chunk) const;
    /// Whether two copies of the chunk may pass a switch at one tick.
    [[nodiscard]] bool may_meet_itself(ChunkId chunk) const { return alike_ && may_wait(chunk); }
    /// Of a stretch with legs_.
    [[nodiscard]] Ticks earliest_start(ChunkId chunk, Ticks ready, Op op) const;
    void book(ChunkId chunk, Ticks start, Op op);
    /// What is copied forwards is plain or complete; backwards everything is a part of a sum.
    [[nodiscard]] Cargo cargo_of(Op op) const;

    const Instance& instance_;
    Direction direction_;
    bool alike_;  ///< copies of a plain chunk or of a complete sum, wherever they meet
    LinkCalendar calendar_;
    std::vector<Piece> pieces_;
    std::vector<LinkId> links_;
    std::vector<LegTime> legs_;
    Ticks makespan_;
};

}  // namespace tutti::heuristics
