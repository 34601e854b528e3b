#pragma once

#include "bounds/distances.hpp"

#include <functional>
#include <vector>

namespace tutti::bounds {

/// Which nodes a path may enter.
using Admits = std::function<bool(NodeId)>;

/// A node and the time from which (backwards: for how long still) it counts.
struct TimedNode {
    NodeId node;
    Ticks time;
};

/// Times found by PacedNetwork. Forwards: when a chunk can be at a node. Backwards: how long it still needs
/// from there. kNever where there is no path.
struct PacedTimes {
    std::vector<Ticks> stored;   ///< per node that stores: NPUs and switches that do not cut through
    std::vector<Ticks> passing;  ///< per pace and cut-through switch: while a stretch of that pace passes it
};

/// The least time of chains that end (or begin) with a link, and the least pace of the stretch that it is in.
struct EndLink {
    Ticks time = kNever;
    Ticks pace = kNever;
};

/// Of chains that lead over a link: the least time before the start on it, and from then on, and the least
/// pace of the stretch that it is in.
struct InnerLink {
    Ticks before = kNever;
    Ticks after = kNever;
    Ticks pace = kNever;
};

/// Fastest paths that pay the true price of cut-through switches: between two nodes that store, a chunk keeps
/// all links of the stretch busy for the pace, the largest beta in it, and pays it once. `distances` knows
/// only the beta of a stretch's last link.
class PacedNetwork {
  public:
    PacedNetwork(const Instance& instance, Bytes bytes);

    [[nodiscard]] const std::vector<Ticks>& paces() const { return paces_; }
    [[nodiscard]] const Topology& topology() const { return *topology_; }
    /// How long a stretch of that pace keeps the link busy.
    [[nodiscard]] Ticks busy(LinkId link, Ticks pace) const { return instance_->busy(link, pace); }
    /// About what a search takes, in links looked at.
    [[nodiscard]] std::size_t work() const { return topology_->links().size() * paces_.size(); }

    /// From the nodes (forwards) or to them (backwards), which must store; over nodes that `admits` lets in.
    /// O(links * paces log nodes).
    [[nodiscard]] PacedTimes times(const std::vector<TimedNode>& from, Direction direction,
                                   const Admits& admits) const;

    /// Chains that end with the link (forwards; it leads to a node that stores), or begin with it.
    [[nodiscard]] EndLink at_end(const PacedTimes& times, LinkId link, Direction direction) const;
    /// Chains that come from where `forwards` was searched from and go to where `backwards` was.
    [[nodiscard]] InnerLink over(const PacedTimes& forwards, const PacedTimes& backwards, LinkId link) const;

    /// Of chains that begin with the link: the least time from the end of the pace that begins with the start
    /// on the link. (A stretch passes the link, ends alphas and its pace later, and goes on from there.)
    [[nodiscard]] Ticks after_pace(const PacedTimes& backwards, LinkId link) const;

  private:
    [[nodiscard]] bool stores(NodeId node) const { return !topology_->is_cut_through(node); }
    [[nodiscard]] std::size_t place(std::size_t pace, NodeId node) const {
        return pace * topology_->switches() + node.index() - topology_->npus();
    }
    /// The time before the link in a stretch of that pace, and after it (its end included).
    [[nodiscard]] Ticks before(const PacedTimes& times, NodeId node, std::size_t pace) const;
    [[nodiscard]] Ticks after(const PacedTimes& times, NodeId node, std::size_t pace) const;

    const Instance* instance_;
    const Topology* topology_;
    std::vector<Ticks> paces_;            ///< every beta of a link, rising
    std::vector<std::uint32_t> pace_of_;  ///< per link: which of them is its own
};

}  // namespace tutti::bounds
