#pragma once

#include "verify/holdings.hpp"
#include "verify/links.hpp"
#include "verify/passages.hpp"
#include "verify/reduction_counts.hpp"
#include "verify/switches.hpp"

namespace tutti::verify {

/// Judges ordinary sends: a copy of a plain chunk over a free link, out of a node that holds it, between NPUs
/// and switches that only forward or are passed at one pace; or a send of a reduction that ReductionCounts
/// can count. They are processed in the order given, without being collected or sorted: ordinary sends of one
/// tick are independent, so their order does not matter. Other sends are left to the caller, who can take
/// back all ordinary sends of the tick.
class FastPath {
  public:
    FastPath(const Instance& instance, const Tables& tables, Holdings& plain, ReductionCounts& counted,
             const ExactSums& exact, const CutThroughSwitches& cut_through, LinkLedger& links);

    enum class Why {
        Done,       ///< all were taken
        OtherTick,  ///< the next send has another start
        Stranger,   ///< the next send names an unknown chunk or link
        Suspect,    ///< the next send may break a rule, or disturb other ordinary sends of its tick
        Uncounted,  ///< the next send's chunk cannot be counted on
        Exact       ///< the next send's chunk is in the exact sums
    };
    struct Taken {
        std::size_t next = 0;  ///< the first send that was not taken
        Why why = Why::Done;
    };
    /// Processes sends from sends[begin] on that start at `now`. Precondition: all ordinary sends due by then
    /// have arrived.
    [[nodiscard]] Taken take(std::span<const Send> sends, std::size_t begin, const Positions& positions,
                             Ticks now);
    /// At the end of a tick: takes the sends that waited for others of it. Returns those that cannot be taken
    /// even so; they wait on, for undo().
    [[nodiscard]] std::span<const NumberedSend> settle();
    /// Puts a copy of a plain chunk in flight that the caller has judged.
    void launch(const NumberedSend& numbered, const Hop& hop);

    /// Processes the arrivals of plain chunks that are due at `tick` or before.
    void arrive_until(Ticks tick);
    /// Or appends them to `arrivals`.
    void arrive_elsewhere(Ticks tick, std::vector<Arrival>& arrivals);

    /// Plain chunks inside cut-through switches that were due before `tick` and did not leave.
    [[nodiscard]] std::vector<Passage> expired(Ticks tick) { return passages_.expired(tick); }
    /// Removes all plain chunks inside cut-through switches, for a caller who judges their sends onward.
    [[nodiscard]] std::vector<Passage> extract_passages() { return passages_.extract(std::nullopt); }

    /// Takes back all sends, or those of one chunk of a reduction, that started at `now`, and adds them to
    /// `sends`.
    void undo(Ticks now, std::vector<NumberedSend>& sends);
    void undo(Ticks now, ChunkId reduction, std::vector<NumberedSend>& sends);

    /// The last arrival of the sends processed.
    [[nodiscard]] Ticks makespan() const { return makespan_; }
    /// The same by collective; empty where there is only one.
    [[nodiscard]] const std::vector<Ticks>& finish() const { return finish_; }

  private:
    struct Flight {
        ChunkId chunk;
        LinkId link;
        Ticks start;
        std::uint64_t position = 0;
    };
    template <bool Alike>
    [[nodiscard]] Taken take_some(std::span<const Send> sends, std::size_t begin, const Positions& positions,
                                  Ticks now);
    template <bool Alike>
    void arrive_some(std::span<const Flight> flights);
    template <bool Alike>
    [[nodiscard]] std::uint32_t slot_of(ChunkId chunk) const {
        if constexpr (Alike) return chunk.value();
        return tables_.chunk(chunk).slot;
    }
    template <bool Alike>
    [[nodiscard]] const Hop& hop_of(ChunkId chunk, LinkId link) const {
        return tables_.hops(Alike ? 0 : tables_.chunk(chunk).size)[link.index()];
    }
    template <bool Alike>
    void prefetch_source(const Send& send) const;
    [[nodiscard]] bool may_move(const Send& send, const Hop& hop) const;
    [[nodiscard]] bool leave(const Hop& hop, std::uint32_t slot);
    [[nodiscard]] bool is_due(NodeId at, ChunkId chunk, Ticks now, bool reduction) const;
    [[nodiscard]] bool pass(const Send& send, const Hop& hop, std::uint32_t slot, std::uint64_t position);
    void free_links(std::span<const NumberedSend> sends);

    const Instance& instance_;
    const Tables& tables_;
    Holdings& plain_;
    ReductionCounts& counted_;
    const ExactSums& exact_;
    const CutThroughSwitches& cut_through_;  ///< what went into them on the exact path
    LinkLedger& links_;
    Lanes<Flight> in_flight_;
    Passages passages_;
    /// Out of cut-through switches that they may enter at the same tick, when nothing had entered yet.
    std::vector<NumberedSend> waiting_;
    Ticks last_release_;          ///< from here on every holder may send
    bool is_restricted_ = false;  ///< whether some collective may not be relayed by all
    Ticks makespan_;
    std::vector<Ticks> finish_;
};

}  // namespace tutti::verify
