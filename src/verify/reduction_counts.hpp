#pragma once

#include "verify/counted_queues.hpp"
#include "verify/exact_sums.hpp"
#include "verify/lanes.hpp"
#include "verify/numbered_send.hpp"
#include "verify/passages.hpp"

#include <memory>

namespace tutti::verify {

/// A copy of a reduction at a storing switch, in order of arrival.
struct StoredCopy {
    NodeId node;
    ChunkId chunk;
    Value value;
    bool has_left = false;  ///< it waits no longer; null if only that is known
    Ticks left_at{};
};

/// What a chunk that can no longer be counted leaves to the exact path.
struct HandedOver {
    std::vector<Arrival> arrivals;  ///< sends in flight
    std::vector<StoredCopy> copies;
    std::vector<std::pair<Passage, Value>> passages;  ///< inside cut-through switches
};

/// Reductions along trees, whose contributions need only be counted because added values are disjoint;
/// reduction_counts.cpp explains why. A chunk whose sends leave this pattern is moved to ExactSums for good.
/// Memory is four bytes per node and chunk that was ever sent.
class ReductionCounts {
  public:
    ReductionCounts(const Instance& instance, const Tables& tables, ExactSums& exact);

    /// A send between NPUs and switches that only forward or are passed at one pace leaves its source. False,
    /// with nothing changed, if counting does not suffice for it. Precondition: the chunk is not open in the
    /// exact sums.
    [[nodiscard]] bool leave(const Send& send, const Hop& hop, std::uint64_t position);

    /// Whether the chunk is inside a cut-through switch, due onward then.
    [[nodiscard]] bool is_due(NodeId at, ChunkId chunk, Ticks due) const {
        return passages_.contains(at, chunk, due);
    }

    /// Processes the arrivals due at `tick` or before. One that cannot be counted opens its chunk.
    void arrive_until(Ticks tick, HandedOver& handed);

    /// Takes back the sends of a chunk, or of all, that started at `start`, the latest start of all.
    void undo(Ticks start, std::optional<ChunkId> only, std::vector<NumberedSend>& sends);

    /// Moves chunks to the exact sums.
    void open(std::vector<ChunkId> chunks, HandedOver& handed);

    /// Whether all receivers have the full sum. Precondition: the chunk is not open.
    [[nodiscard]] bool is_complete(ChunkId chunk) const;

    void prefetch(NodeId node, std::uint32_t slot) const {
        if (rows_[slot]) __builtin_prefetch(&rows_[slot][node.index()], 1);
    }

  private:
    struct Flight {
        ChunkId chunk;
        LinkId link;
        Ticks start;
        std::uint64_t position = 0;
        std::uint32_t reduces : 1 = 0;
        std::uint32_t weight : 31 = 0;  ///< how many contributions; 0: the full sum
        NodeId origin{};                ///< the NPU whose value it is
        [[nodiscard]] Op op() const { return reduces != 0 ? Op::Reduce : Op::Copy; }
    };
    static_assert(sizeof(Flight) == 32);
    struct Left {  ///< a send out of a switch
        NodeId node;
        ChunkId chunk;
        CountedQueues::Leaving leaving;
    };
    using Row = std::unique_ptr<std::uint32_t[]>;  ///< per node
    using DueFlight = std::pair<Flight, Ticks>;
    using Set = boost::intrusive_ptr<Contributions>;

    [[nodiscard]] Row& row_of(ChunkId chunk, std::uint32_t slot);
    [[nodiscard]] bool is_switch(NodeId node) const { return node.index() >= npus_; }
    [[nodiscard]] bool leave_npu(const Send& send, const Hop& hop, std::uint32_t slot, Flight& flight);
    [[nodiscard]] bool leave_switch(const Send& send, const Hop& hop, std::uint32_t slot, Flight& flight);
    [[nodiscard]] bool leave_cut_through(const Send& send, const Hop& hop, std::uint32_t slot,
                                         Flight& flight);
    void take_back_from_switches(Ticks start, std::optional<ChunkId> only);
    void open(ChunkId chunk, std::span<const DueFlight> flights, HandedOver& handed);
    [[nodiscard]] bool adds_own_later(ChunkId chunk, const Row& row, NodeId npu) const;
    [[nodiscard]] std::vector<Set> sets_of(ChunkId chunk, const Row& row, std::span<const DueFlight> flights,
                                           std::span<const Passage> passages) const;
    [[nodiscard]] std::vector<Passage> extract_passages(ChunkId chunk);
    void hand_over_queues(ChunkId chunk, Row& row, std::span<const Set> sets, const Value& full,
                          HandedOver& handed);

    const Instance& instance_;
    const Tables& tables_;
    ExactSums& exact_;
    const std::size_t npus_;
    const std::size_t nodes_;          ///< with words: the NPUs, and the switches if some can be counted
    std::vector<Row> rows_;            ///< per reduction; null: nothing was sent yet
    std::vector<std::uint32_t> full_;  ///< per reduction: the number of its contributions
    Lanes<Flight> in_flight_;
    CountedQueues queues_;
    Passages passages_;
    std::vector<Passage> lost_;  ///< that were not forwarded in time, of chunks to be opened
    std::vector<Left> left_;     ///< at left_at_, in order
    Ticks left_at_;
    std::vector<DueFlight> broken_;  ///< arrivals that cannot be counted, with their ticks
};

}  // namespace tutti::verify
