#pragma once

#include "core/rng.hpp"
#include "core/stop.hpp"
#include "heuristics/spread.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// Grows trees in the time-expanded network: each brings its chunk to its targets as early as the gaps left
/// by the others allow. Supports everything: relays outside the group, switches of all kinds, links booked
/// before.
class TimedGrowth {
  public:
    /// The graph must outlive this.
    TimedGrowth(const HopGraph& graph, LinkCalendar calendar, Rng& rng);

    /// Books the links of given transfers. Precondition: they are free then.
    void book(std::span<const Transfer> transfers);

    /// Removes these bookings, on networks where every hop is one link.
    void release(std::span<const Transfer> transfers);

    /// Brings the chunk to all targets, from its sources and from where `kept` (transfers of this spread,
    /// booked already) has brought it; books and appends what that takes. False: some target cannot be
    /// reached by the deadline, or `stop` came first; what was appended until then stays booked.
    bool grow(const Spread& spread, std::span<const Transfer> kept, Ticks deadline, const Stop& stop,
              std::vector<Transfer>& transfers);

    /// The last arrival of all that `grow` made.
    [[nodiscard]] Ticks makespan() const { return makespan_; }

  private:
    /// A hop with its times.
    struct Arc {
        NodeId to;
        HopId hop;
        LinkId link;  ///< the first
        bool rigid;   ///< more than one link
        Ticks busy;
        Ticks transit;
    };
    struct Label {
        std::uint64_t search = 0;
        Ticks arrival;
        Ticks cost;
        HopId by;
        bool settled = false;
    };
    struct Entry {
        Ticks cost;
        std::uint32_t lot;  ///< among equal costs the order is drawn, so that equal paths share the load
        NodeId node;
        bool operator<(const Entry& other) const {
            return cost != other.cost ? cost > other.cost : lot > other.lot;
        }
    };
    struct Joined {
        NodeId node;
        Ticks arrival;
    };

    [[nodiscard]] const std::vector<Arc>& arcs_for(ChunkId chunk);
    void join(NodeId node, Ticks arrival) {
        in_tree_[node.index()] = tree_;
        joined_.push_back({node, arrival});
    }
    void enter(NodeId node, Ticks arrival, Ticks cost, HopId by);
    void leave(NodeId node, const std::vector<Arc>& arcs, ChunkId chunk);
    std::size_t search(ChunkId chunk, std::size_t missing, const Stop& stop,
                       std::vector<Transfer>& transfers);
    std::optional<Ticks> book_path(ChunkId chunk, NodeId target, std::vector<Transfer>& transfers);

    const HopGraph& graph_;
    LinkCalendar calendar_;
    Rng& rng_;
    std::int64_t per_tick_, per_hop_;  ///< the cost of a tick, and of a tick spent on a link besides
    /// By size of the chunk, then in the order of the graph's lists, node by node.
    std::map<Bytes, std::vector<Arc>> arcs_;
    CollectiveId collective_;
    Ticks deadline_;
    Ticks makespan_;
    std::vector<Label> labels_;
    std::vector<std::uint64_t> in_tree_, wanted_;  ///< the number of the tree for which it holds
    std::vector<Joined> joined_;
    std::vector<HopId> path_;
    std::vector<Transfer> planned_;
    std::vector<Entry> queue_;
    std::uint64_t tree_ = 0;
    std::uint64_t search_ = 0;
    bool stale_ = false;
};

}  // namespace tutti::heuristics
