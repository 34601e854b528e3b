#pragma once

#include "bounds/shortest_paths.hpp"
#include "core/instance.hpp"

#include <optional>
#include <vector>

namespace tutti::bounds {

inline constexpr Ticks kNever = Ticks::max();

/// a + b, where either may be kNever.
[[nodiscard]] inline Ticks sum(Ticks a, Ticks b) { return a == kNever || b == kNever ? kNever : a + b; }

/// The times of all links for chunks of one size, over the nodes that may carry one collective, or over all
/// nodes.
struct Passage {
    Passage(const Instance& instance, Bytes bytes, std::optional<CollectiveId> collective = {});

    /// Whether the forwarding rule lets the node hold such chunks.
    [[nodiscard]] bool admits(NodeId node) const {
        return !collective || instance->may_carry(node, *collective);
    }

    const Instance* instance;
    Bytes bytes;
    std::optional<CollectiveId> collective;
    std::vector<Ticks> transit;  ///< per link: alpha + beta
    std::vector<Ticks> step;  ///< per link: the same, but alpha alone into a cut-through switch, because beta
                              ///< is paid once, by the last link at the least
    std::vector<Ticks> busy;  ///< per link
    std::optional<Ticks> every_step;  ///< the step of all links, where they agree
};

/// Per node: whether one of the passages admits it. O(nodes * passages).
[[nodiscard]] std::vector<bool> carriers(const Topology& topology,
                                         const std::vector<const Passage*>& passages);

/// The least time from a set of nodes to every other (forwards) or from every other to the set (backwards),
/// with no other traffic: a lower bound of any transfer's time. kNever where there is no path. Dijkstra's
/// algorithm, O(links log nodes); O(links) where all steps are equal.
[[nodiscard]] std::vector<Ticks> distances(const Passage& passage, std::span<const NodeId> set,
                                           Direction direction);

/// The fewest links of a path from the set to every node; UINT32_MAX where there is none. O(links).
[[nodiscard]] std::vector<std::uint32_t> link_counts(const Passage& passage, std::span<const NodeId> set);

/// The links of a fastest path to the node, in the order of travel. Precondition: `times` are distances
/// forwards from NPUs, and finite at the node.
[[nodiscard]] std::vector<LinkId> fastest_path(const Passage& passage, const std::vector<Ticks>& times,
                                               NodeId node);

}  // namespace tutti::bounds
