#pragma once

#include "heuristics/hop_graph.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// Which NPUs can send to which without another NPU in between, and how long that takes. A **message** is
/// what one such send carries, through switches only; it waits in none of them.
class MessageGraph {
  public:
    /// The instance must outlive the graph. O(pairs of NPUs) time and memory where there are switches.
    explicit MessageGraph(const Instance& instance);

    /// Whether such a graph is small enough to be built.
    [[nodiscard]] static bool fits(const Instance& instance);

    [[nodiscard]] const Instance& instance() const { return hops_.instance(); }
    [[nodiscard]] const HopGraph& hops() const { return hops_; }
    /// The hops from one NPU to another, fastest first for the largest chunk.
    [[nodiscard]] std::span<const HopId> between(NodeId from, NodeId to) const;
    [[nodiscard]] bool joins(NodeId from, NodeId to) const { return !between(from, to).empty(); }
    /// The NPUs that one NPU can send to, in order.
    [[nodiscard]] std::span<const NodeId> next(NodeId from) const {
        return std::span(to_).subspan(begin_[from.index()], begin_[from.index() + 1] - begin_[from.index()]);
    }
    /// How long the hop takes with that chunk.
    [[nodiscard]] Ticks transit(HopId hop, ChunkId chunk) const;
    /// The least time of a message. Precondition: joins(from, to).
    [[nodiscard]] Ticks time(NodeId from, NodeId to, ChunkId chunk) const {
        return transit(between(from, to).front(), chunk);
    }

  private:
    HopGraph hops_;
    std::vector<std::uint32_t> begin_;       ///< by NPU: in to_
    std::vector<NodeId> to_;                 ///< neighbours, NPU by NPU
    std::vector<std::uint32_t> first_hop_;   ///< by position in to_: in sorted_
    std::vector<HopId> sorted_;              ///< hops by (from, to, time)
    std::vector<std::vector<Ticks>> times_;  ///< by chunk size and hop
};

}  // namespace tutti::heuristics
