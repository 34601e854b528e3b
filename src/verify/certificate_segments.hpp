#pragma once

#include "verify/certificate_paths.hpp"

#include <functional>
#include <utility>
#include <vector>

// Paths that know what cut-through switches cost. Between two nodes that store a chunk (NPUs, other switches)
// lies a segment: one link, or several over cut-through switches. All its links are busy for its pace, the
// largest beta in it, and a chunk pays the pace once per segment.

namespace tutti::verify {

/// Prices of a segment's links and of its end. The times of a path: alpha for each link, the pace at the end.
struct SegmentPrices {
    std::function<Wide(LinkId, Ticks pace)> link;
    std::function<Wide(Ticks pace)> whole;
};

[[nodiscard]] SegmentPrices times_of_segments(const Instance& instance);

/// The cheapest chains of segments from some nodes (backwards: to them), for chunks of one size.
class SegmentPaths {
  public:
    using Enters = std::function<bool(NodeId)>;

    /// `start` per node: its price of starting there, kNever for none; only nodes that store. No path enters
    /// a node that `enters` refuses. O(links * different betas * log).
    SegmentPaths(const Instance& instance, Bytes bytes, Direction direction, const std::vector<Wide>& start,
                 const Enters& enters, SegmentPrices prices);

    /// The least price at a node that stores.
    [[nodiscard]] Wide at(NodeId node) const { return at_[node.index()]; }

    /// The paces that the segment of a link can have on paths that come to the link's near end (forwards its
    /// source, backwards its destination), each with the price up to the link, without it; backwards the
    /// segment's end is included.
    struct Before {
        Ticks pace;
        Wide price;
    };
    [[nodiscard]] std::vector<Before> before(LinkId link) const;

    /// Chains that end with this link (forwards; it leads to a node that stores) or begin with it: the least
    /// price, kNever if there is none, and the least pace of the link's segment.
    [[nodiscard]] std::pair<Wide, Ticks> whole(LinkId link) const;

  private:
    [[nodiscard]] bool stores(NodeId node) const { return !instance_.topology().is_cut_through(node); }

    const Instance& instance_;
    Direction direction_;
    SegmentPrices prices_;
    std::vector<Ticks> betas_;               ///< per link
    std::vector<Ticks> paces_;               ///< the different ones, rising
    std::vector<Wide> at_;                   ///< per node that stores
    std::vector<std::vector<Wide>> within_;  ///< per pace and switch, if it cuts through
};

}  // namespace tutti::verify
