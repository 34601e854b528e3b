#pragma once

#include "core/busy_intervals.hpp"
#include "heuristics/hop_graph.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// What a message carries.
enum class Cargo : std::uint8_t {
    Any,   ///< a part of a sum, or nothing is known
    Whole  ///< plain data, or a sum that is complete; where are_copies_alike()
};

/// Whether copies of a chunk that meet in a switch may be exchanged: no link has another pace, no switch adds
/// them, and no ring of switches is passed at one tick.
[[nodiscard]] bool are_copies_alike(const Topology& topology);

/// The time-expanded network: for each link, when it is busy (BusyIntervals).
///
/// It also prevents what two messages of one chunk carry from being exchanged, or mixed, where they pass a
/// switch at one tick: the lower inbound link is forwarded by the lower onward one. Whole copies may be
/// exchanged.
class LinkCalendar {
  public:
    explicit LinkCalendar(std::size_t links) : busy_(links) {}

    /// The first start >= ready at which all links of the hop are free. O(log intervals + intervals skipped).
    [[nodiscard]] Ticks earliest(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks ready,
                                 Cargo cargo = Cargo::Any) const;
    /// The same for one link that is busy for `length`.
    [[nodiscard]] Ticks earliest(LinkId link, Ticks ready, Ticks length) const {
        return busy_[link.index()].earliest(ready, length);
    }
    /// The same for a path whose links are used as `legs` says. With `backwards` the legs' offsets count from
    /// the end of the path in reversed time, in which all bookings of this calendar then are.
    [[nodiscard]] Ticks earliest(std::span<const LegTime> legs, ChunkId chunk, Ticks ready,
                                 bool backwards = false, Cargo cargo = Cargo::Any) const;
    /// The same where copies of a chunk may be exchanged in a switch.
    [[nodiscard]] Ticks earliest(std::span<const LegTime> legs, Ticks ready) const;
    /// Precondition: the links are free then.
    void book(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks start, Cargo cargo = Cargo::Any);
    void book(std::span<const LegTime> legs, ChunkId chunk, Ticks start, bool backwards = false,
              Cargo cargo = Cargo::Any);
    void book(std::span<const LegTime> legs, Ticks start);
    /// Whether nothing is booked on the link at that tick.
    [[nodiscard]] bool is_free(LinkId link, Ticks tick) const {
        return earliest(link, tick, Ticks(1)) == tick;
    }
    /// Removes a booking, on networks where every hop is one link. Precondition: it was made.
    void release(LinkId link, Ticks begin, Ticks end) { busy_[link.index()].release(begin, end); }
    /// The end of the last booking.
    [[nodiscard]] Ticks horizon() const { return horizon_; }

  private:
    void book(LinkId link, Ticks begin, Ticks end);
    [[nodiscard]] bool meets_itself(std::span<const LegTime> legs, ChunkId chunk, Ticks start, bool backwards,
                                    Cargo cargo) const;

    /// A chunk passes a switch.
    struct Passage {
        NodeId at;
        ChunkId chunk;
        Ticks when{-1};  ///< negative: an empty place
        LinkId inbound, onward;
        Cargo cargo = Cargo::Any;
    };
    /// Which chunks pass which switches when: a hash table with open addressing.
    class Passages {
      public:
        /// Whether another message of the chunk passes there at that tick and the two may be exchanged.
        [[nodiscard]] bool confuses(const Passage& passage, bool alone) const;
        void insert(const Passage& passage);

      private:
        /// Where the search for a passage of that switch, chunk and tick begins. Precondition: there is an
        /// empty place.
        [[nodiscard]] std::size_t first_place(const Passage& passage) const;
        std::vector<Passage> places_;  ///< a power of two, at most half full
        std::size_t count_ = 0;
    };

    std::vector<BusyIntervals<Ticks>> busy_;
    Passages passages_;
    Ticks horizon_;
    mutable std::vector<LegTime> times_;
};

}  // namespace tutti::heuristics
