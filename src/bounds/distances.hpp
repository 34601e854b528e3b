#pragma once

#include "core/instance.hpp"

#include <optional>
#include <vector>

namespace tutti::bounds {

enum class Direction { Forwards, Backwards };

/// The least time from a set of nodes to every other (forwards) or from every other to the set (backwards)
/// for a chunk of one size, through the nodes that may carry its collective, with no other traffic.
struct Distances {
    static constexpr Ticks kUnreachable = Ticks::max();
    std::vector<Ticks> time;
    std::vector<std::uint32_t>
        link_count;  ///< how many links the fewest-links way has; not the fastest way's
    std::vector<std::optional<LinkId>>
        via;  ///< the link next to the node on its fastest way; none at the set itself

    /// The links of the fastest way between the set and the node, in the order of travel.
    [[nodiscard]] std::vector<LinkId> path(const Topology& topology, NodeId node, Direction direction) const;
};

/// Shortest paths by Dijkstra's algorithm. A link into a cut-through switch counts alpha only, because beta
/// is paid once, by the last link at the least; so the result is a lower bound of any transfer's time.
/// O(links log nodes).
[[nodiscard]] Distances distances(const Instance& instance, ChunkId chunk, std::span<const NodeId> set,
                                  Direction direction);

}  // namespace tutti::bounds
