#pragma once

#include "core/instance.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::heuristics {

using HopId = Id<struct HopTag>;

/// How a chunk gets from one stop to the next without waiting on the way: one link, or several through
/// switches that cannot hold it.
struct Hop {
    NodeId from;
    NodeId to;
    std::span<const LinkId> legs;
};

/// When a hop uses one of its links, counted from the start of the hop.
struct LegTime {
    LinkId link;
    NodeId from;  ///< in the direction of travel
    Ticks offset;
    Ticks busy;
};

/// The network as the heuristics see it. **Stops** are nodes where a chunk may wait: NPUs and switches with
/// unlimited buffers. The other switches (cut-through, limited buffer) are passed in rigid hops that leave
/// them at the very tick the rules allow: a schedule of hops can then never break V11 or V12, whatever the
/// buffer.
///
/// A stop **branches** if it may send what it received more than once: every NPU, and switches that copy.
class HopGraph {
  public:
    /// What the hops are for. When reductions gather, two different sums of one chunk must not wait at a
    /// switch that copies but does not reduce: who takes its value for one that is overwritten would mix them
    /// up. So such switches are passed in rigid hops then.
    enum class Use { Spread, Gather };

    /// The instance must outlive the graph.
    explicit HopGraph(const Instance& instance, Use use = Use::Spread);

    /// The same hops, turned round: what spreads on it gathers on the original when played backwards.
    /// Branching at switches then means reducing.
    [[nodiscard]] HopGraph reversed() const;

    [[nodiscard]] const Instance& instance() const { return *instance_; }
    [[nodiscard]] std::size_t nodes() const { return out_begin_.size() - 1; }
    [[nodiscard]] std::size_t hops() const { return ends_.size(); }
    [[nodiscard]] Hop hop(HopId id) const {
        const Ends& ends = ends_[id.index()];
        return {ends.from, ends.to, std::span(legs_).subspan(ends.first_leg, ends.legs)};
    }
    [[nodiscard]] std::span<const HopId> out(NodeId node) const {
        const std::size_t i = node.index();
        return std::span(out_).subspan(out_begin_[i], out_begin_[i + 1] - out_begin_[i]);
    }
    [[nodiscard]] bool branches(NodeId node) const { return branches_[node.index()]; }
    /// Whether every hop is a link between two NPUs.
    [[nodiscard]] bool is_direct() const { return direct_; }
    /// Whether every hop is one link.
    [[nodiscard]] bool is_simple() const { return legs_.size() == ends_.size(); }

    /// The hop's one link, if it is one link.
    [[nodiscard]] std::optional<LinkId> only_link(HopId id) const {
        const Ends& ends = ends_[id.index()];
        return ends.legs == 1 ? std::optional(legs_[ends.first_leg]) : std::nullopt;
    }

    /// From the start of the hop to the arrival at its end.
    [[nodiscard]] Ticks transit(HopId id, ChunkId chunk) const;
    /// The links the hop uses, into `times`.
    void leg_times(HopId id, ChunkId chunk, std::vector<LegTime>& times) const;

  private:
    struct Ends {
        NodeId from, to;
        std::uint32_t first_leg, legs;
    };
    class RigidSearch;
    HopGraph() = default;
    void index_hops();
    template <class Take>
    void each_leg(HopId id, ChunkId chunk, Take take) const;

    [[nodiscard]] bool is_stop(NodeId node) const;

    const Instance* instance_ = nullptr;
    Use use_ = Use::Spread;
    bool backwards_ = false;
    bool direct_ = true;
    std::vector<Ends> ends_;
    std::vector<LinkId> legs_;
    std::vector<HopId> out_;
    std::vector<std::uint32_t> out_begin_;
    std::vector<bool> branches_;
};

}  // namespace tutti::heuristics
