#pragma once

#include "heuristics/spread.hpp"

#include <cstdint>
#include <vector>

namespace tutti::heuristics {

/// A table of hop times by hop and chunk size, for inner loops. A **kind** is the position of a chunk's size
/// among the distinct sizes of the problem. The unit of time is the greatest common divisor of all times, in
/// ticks. Memory O(kinds * hops).
class HopTimes {
  public:
    explicit HopTimes(const SpreadProblem& problem);

    [[nodiscard]] std::size_t kinds() const { return chunks_.size(); }
    [[nodiscard]] std::uint32_t kind(std::size_t spread) const { return kind_.empty() ? 0 : kind_[spread]; }
    /// From the start of the hop to its end.
    [[nodiscard]] std::int64_t transit(HopId hop, std::uint32_t kind) const { return row(hop, kind).transit; }
    /// How long the first link of the hop is busy.
    [[nodiscard]] std::int64_t busy(HopId hop, std::uint32_t kind) const { return row(hop, kind).busy; }
    /// A chunk of that kind.
    [[nodiscard]] ChunkId chunk(std::uint32_t kind) const { return chunks_[kind]; }
    /// Whole units, rounded down; exact for the times of this problem, ready times included.
    [[nodiscard]] std::int64_t units(Ticks ticks) const { return ticks.count() / unit_; }
    [[nodiscard]] Ticks ticks(std::int64_t units) const { return Ticks(unit_) * units; }

  private:
    struct Row {
        std::int64_t transit, busy;
    };
    [[nodiscard]] const Row& row(HopId hop, std::uint32_t kind) const {
        return rows_[kind * hops_ + hop.index()];
    }
    std::size_t hops_;
    std::vector<ChunkId> chunks_;  ///< one of each kind
    std::vector<std::uint32_t> kind_;
    std::vector<Row> rows_;
    std::int64_t unit_ = 1;
};

}  // namespace tutti::heuristics
