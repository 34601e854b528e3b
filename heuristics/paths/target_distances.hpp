#pragma once

#include "core/expects.hpp"
#include "heuristics/spread.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// The distance in hops of each node from the targets of some spreads, over nodes that may carry their
/// chunks: one row for each target and forwarding rule. Rows are filled in blocks that fit into kBlockBytes,
/// one block at a time; usually there is only one.
class TargetDistances {
  public:
    static constexpr std::uint16_t kFar = UINT16_MAX;

    /// targets[i] is the target of spread i; those of spreads without transfers are ignored.
    TargetDistances(const SpreadProblem& problem, std::span<const NodeId> targets);

    [[nodiscard]] std::size_t blocks() const { return (rows_.size() + block_rows_ - 1) / block_rows_; }
    [[nodiscard]] std::size_t block_of(std::size_t spread) const { return row_of_[spread] / block_rows_; }
    /// O(rows of a block * hops), nothing if it is filled already.
    void fill(std::size_t block);
    /// Distances to the target of the spread, by node. Precondition: its block is filled.
    [[nodiscard]] std::span<const std::uint16_t> row(std::size_t spread) const {
        expects(block_of(spread) == filled_);
        return std::span(distance_).subspan(row_of_[spread] % block_rows_ * nodes_, nodes_);
    }

    /// The nodes that reach the target, nearest first.
    [[nodiscard]] std::span<const std::uint32_t> nearest_first(std::size_t spread) const {
        expects(block_of(spread) == filled_);
        const std::size_t slot = row_of_[spread] % block_rows_;
        return std::span(order_).subspan(slot * nodes_, reached_[slot]);
    }
    /// Spreads with the same row have the same target and rule.
    [[nodiscard]] std::size_t rows() const { return rows_.size(); }
    [[nodiscard]] std::uint32_t row_number(std::size_t spread) const { return row_of_[spread]; }

  private:
    static constexpr std::size_t kBlockBytes = std::size_t{1} << 27;
    struct Row {
        NodeId target;
        CollectiveId collective;  ///< one with that forwarding rule
    };
    void fill_row(const Row& row, std::size_t slot);

    const HopGraph& graph_;
    std::size_t nodes_;
    std::size_t block_rows_;
    std::size_t filled_ = SIZE_MAX;
    std::size_t senders_ = 0;  ///< nodes that some hop leaves
    std::vector<Row> rows_;
    std::vector<std::uint32_t> row_of_;
    std::vector<std::uint16_t> distance_;
    std::vector<std::uint32_t> order_, reached_;
};

}  // namespace tutti::heuristics
