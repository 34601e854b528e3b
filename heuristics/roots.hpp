#pragma once

#include "heuristics/hop_graph.hpp"

#include <map>
#include <optional>
#include <vector>

namespace tutti::heuristics {

/// Where reductions are summed up. On a strongly connected network any receiver will do; otherwise a root
/// must be reached by every holder and reach every receiver, and there may be none.
class Roots {
  public:
    /// The graph must outlive this.
    explicit Roots(const HopGraph& graph) : graph_(graph) {}

    /// A receiver if possible, each in its turn; else another NPU; none if no single NPU can be the root.
    [[nodiscard]] std::optional<NodeId> common(ChunkId chunk, std::size_t turn);
    /// A switch that stores, reduces and copies, where the sum is complete half way and goes down to all
    /// receivers at once; those nearest to the farthest member in turn. None if no switch is such that all
    /// members of the group reach it and it reaches them.
    [[nodiscard]] std::optional<NodeId> at_switch(ChunkId chunk, std::size_t turn);
    /// Receivers that no other receiver can pass the sum to, and one of each set that can pass it to each
    /// other: they must all sum up for themselves, and can serve all others.
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
