#pragma once

#include "core/instance.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::heuristics {

using HopId = Id<struct HopTag>;

/// A connection from one stop to the next without waiting in between: one link, or several through switches
/// that cannot hold a chunk.
struct Hop {
    NodeId from;
    NodeId to;
    std::span<const LinkId> legs;
};

/// An entry of a node's list: a hop and the node at its other end.
struct HopEnd {
    NodeId node;
    HopId hop;
};

/// When a hop uses one of its links, counted from the start of the hop.
struct LegTime {
    LinkId link;
    NodeId from;  ///< in the direction of travel
    Ticks offset;
    Ticks busy;
    bool alone;  ///< no other message of the chunk may pass `from` at that tick
};

/// When a path through switches uses its links if the chunk leaves every switch as soon as it may, into
/// `times`. Returns the time from the start to the arrival. Precondition: `links` is not empty.
Ticks path_times(const Instance& instance, std::span<const LinkId> links, ChunkId chunk,
                 std::vector<LegTime>& times);

/// The network as the heuristics use it. **Stops** are nodes where a chunk may wait: NPUs and switches with
/// unlimited buffers. The other switches (cut-through, limited buffer) are passed in rigid hops, which leave
/// a switch at the earliest tick that the rules allow: a schedule of hops can never break V11 or V12,
/// whatever the buffer.
///
/// A stop **branches** if it may send what it received more than once: every NPU, and switches that copy.
///
/// It is the only adjacency structure of the searches and simulations here: their tables of times, prices and
/// costs are indexed by hop, or by position in its lists. Lists are in order of the hops' numbers.
class HopGraph {
  public:
    /// What the hops are for. When reductions gather, two different sums of one chunk must not wait at a
    /// switch that copies but does not reduce, because the second overwrites the first. So for gathering such
    /// switches are passed in rigid hops. A message goes from NPU to NPU: every switch is passed.
    enum class Use { Spread, Gather, Message };

    /// The instance must outlive the graph.
    explicit HopGraph(const Instance& instance, Use use = Use::Spread);

    /// The same hops reversed: a spread on it, reversed in time, is a gather on the original. Branching at
    /// switches then means reducing.
    [[nodiscard]] HopGraph reversed() const;

    [[nodiscard]] const Instance& instance() const { return *instance_; }
    [[nodiscard]] std::size_t nodes() const { return out_begin_.size() - 1; }
    [[nodiscard]] std::size_t hops() const { return to_.size(); }
    [[nodiscard]] NodeId from(HopId id) const { return from_[id.index()]; }
    [[nodiscard]] NodeId to(HopId id) const { return to_[id.index()]; }
    [[nodiscard]] std::span<const LinkId> legs(HopId id) const {
        const std::uint32_t first = leg_begin_[id.index()];
        return std::span(legs_).subspan(first, leg_begin_[id.index() + 1] - first);
    }
    [[nodiscard]] Hop hop(HopId id) const { return {from(id), to(id), legs(id)}; }

    /// The hops that leave the node, each with its head.
    [[nodiscard]] std::span<const HopEnd> out(NodeId node) const {
        const std::uint32_t first = first_out(node);
        return std::span(out_).subspan(first, out_begin_[node.index() + 1] - first);
    }
    /// The position of the first of them in a table over the `out` lists of all nodes, one after the other.
    [[nodiscard]] std::uint32_t first_out(NodeId node) const { return out_begin_[node.index()]; }
    /// The hops that enter the node, each with its tail.
    [[nodiscard]] std::span<const HopEnd> in(NodeId node) const {
        const std::uint32_t first = in_begin_[node.index()];
        return std::span(in_).subspan(first, in_begin_[node.index() + 1] - first);
    }
    [[nodiscard]] bool branches(NodeId node) const { return branches_[node.index()]; }
    /// Whether every hop is a link between two NPUs.
    [[nodiscard]] bool is_direct() const { return direct_; }
    /// Whether every hop is one link.
    [[nodiscard]] bool is_simple() const { return legs_.size() == to_.size(); }

    /// The hop's link, if it has only one.
    [[nodiscard]] std::optional<LinkId> only_link(HopId id) const {
        const std::uint32_t first = leg_begin_[id.index()];
        return leg_begin_[id.index() + 1] - first == 1 ? std::optional(legs_[first]) : std::nullopt;
    }

    /// From the start of the hop to the arrival at its end.
    [[nodiscard]] Ticks transit(HopId id, ChunkId chunk) const;
    /// The links the hop uses, into `times`.
    void leg_times(HopId id, ChunkId chunk, std::vector<LegTime>& times) const;

  private:
    class RigidSearch;
    HopGraph() = default;
    void index_hops(std::span<const NodeId> own, std::span<const NodeId> other,
                    std::vector<std::uint32_t>& begin, std::vector<HopEnd>& list) const;

    [[nodiscard]] bool is_stop(NodeId node) const;

    const Instance* instance_ = nullptr;
    Use use_ = Use::Spread;
    bool backwards_ = false;
    bool direct_ = true;
    std::vector<NodeId> from_, to_;            ///< by hop
    std::vector<std::uint32_t> leg_begin_{0};  ///< by hop
    std::vector<LinkId> legs_;                 ///< hop by hop
    std::vector<HopEnd> out_, in_;             ///< node by node
    std::vector<std::uint32_t> out_begin_, in_begin_;
    std::vector<bool> branches_;
};

}  // namespace tutti::heuristics
