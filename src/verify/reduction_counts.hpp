#pragma once

#include "verify/exact_sums.hpp"
#include "verify/lanes.hpp"
#include "verify/numbered_send.hpp"

#include <memory>

namespace tutti::verify {

/// Reductions along trees, whose contributions need only be counted because added values are disjoint;
/// reduction_counts.cpp explains why. A chunk whose sends leave this pattern is moved to ExactSums for good.
/// Memory is four bytes per NPU and chunk that was ever sent.
class ReductionCounts {
  public:
    ReductionCounts(const Instance& instance, const Tables& tables, ExactSums& exact);

    /// A send between NPUs leaves its source. False, with nothing changed, if counting does not suffice for
    /// it. Precondition: the chunk is not open in the exact sums.
    [[nodiscard]] bool leave(const Send& send, const Hop& hop, std::uint64_t position);

    /// Processes the arrivals due at `tick` or before. One that cannot be counted opens its chunk, whose
    /// sends in flight are added to `arrivals`.
    void arrive_until(Ticks tick, std::vector<Arrival>& arrivals);

    /// Takes back the sends of a chunk, or of all, that started at `start`, the latest start of all.
    void undo(Ticks start, std::optional<ChunkId> only, std::vector<NumberedSend>& sends);

    /// Moves chunks to the exact sums; their sends in flight are added to `arrivals`.
    void open(std::vector<ChunkId> chunks, std::vector<Arrival>& arrivals);

    /// Whether all receivers have the full sum. Precondition: the chunk is not open.
    [[nodiscard]] bool is_complete(ChunkId chunk) const;

    void prefetch(NodeId npu, std::uint32_t slot) const {
        if (rows_[slot]) __builtin_prefetch(&rows_[slot][npu.index()], 1);
    }

  private:
    struct Flight {
        ChunkId chunk;
        LinkId link;
        Ticks start;
        std::uint64_t position = 0;
        std::uint32_t weight = 0;  ///< of a reduce: how many contributions
        Op op = Op::Copy;
    };
    using Row = std::unique_ptr<std::uint32_t[]>;  ///< per NPU

    [[nodiscard]] Row& row_of(ChunkId chunk, std::uint32_t slot);
    [[nodiscard]] NodeId source_of(const Flight& flight) const {
        return instance_.topology().link(flight.link).src;
    }
    void open(ChunkId chunk, std::span<const std::pair<Flight, Ticks>> flights,
              std::vector<Arrival>& arrivals);

    const Instance& instance_;
    const Tables& tables_;
    ExactSums& exact_;
    std::vector<Row> rows_;            ///< per reduction; null: nothing was sent yet
    std::vector<std::uint32_t> full_;  ///< per reduction: the number of its contributions
    Lanes<Flight> in_flight_;
    std::vector<std::pair<Flight, Ticks>> broken_;  ///< arrivals that cannot be counted, with their ticks
};

}  // namespace tutti::verify
