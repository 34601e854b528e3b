#pragma once

#include "heuristics/hop_graph.hpp"

#include <map>
#include <optional>
#include <vector>

namespace tutti::heuristics {

/// Chooses the roots of reductions. On a strongly connected network any receiver can be the root; otherwise a
/// root must be reachable from every holder and reach every receiver, and there may be none.
class Roots {
  public:
    /// The graph must outlive this.
    explicit Roots(const HopGraph& graph) : graph_(graph) {}

    /// A receiver if possible, in rotation; else another NPU; none if no single NPU can be the root.
    [[nodiscard]] std::optional<NodeId> common(ChunkId chunk, std::size_t turn);
    /// A switch that stores, reduces and copies, where the sum is complete half way and is sent to all
    /// receivers at once; among those with the smallest distance to their farthest member, in rotation. None
    /// if there is no such switch that all members of the group reach and that reaches them.
    [[nodiscard]] std::optional<NodeId> at_switch(ChunkId chunk, std::size_t turn);
    /// The receivers that must be roots of their own: one of each strongly connected set of receivers that no
    /// other receiver reaches. From them all other receivers can be served.
    [[nodiscard]] std::vector<NodeId> separate(ChunkId chunk);

  private:
    [[nodiscard]] bool members_meet(CollectiveId collective);
    [[nodiscard]] const std::vector<bool>& reached_from(NodeId node, CollectiveId collective);

    [[nodiscard]] std::vector<NodeId> nearest_switches(CollectiveId collective) const;

    const HopGraph& graph_;
    std::map<CollectiveId, std::vector<NodeId>> switches_;
    std::map<CollectiveId, bool> meet_;
    std::map<std::pair<CollectiveId, NodeId>, std::vector<bool>> reached_;
};

/// Whether the network has a switch that Roots::at_switch could name.
[[nodiscard]] bool has_root_switch(const Topology& topology);

}  // namespace tutti::heuristics
