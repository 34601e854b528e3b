#pragma once

#include "heuristics/paths/slot_market.hpp"

#include <limits>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// A chunk that has to go to its one target.
struct Journey {
    std::size_t spread;
    NodeId target;
    std::uint32_t kind;
    std::int32_t ready;  ///< in slots
    std::uint32_t row;   ///< of the table of least times to its target
};

/// What the searches for paths need to know, whatever the horizon is. Only for hops of one link.
class Journeys {
  public:
    static constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();

    /// The problem must outlive this. Spreads without a target that is no source are left out. O(targets *
    /// hops log nodes) time, 4 bytes for each target and node.
    Journeys(const SpreadProblem& problem, const HopTimes& hop_times, Ticks slot);

    [[nodiscard]] const SpreadProblem& problem() const { return problem_; }
    [[nodiscard]] const HopGraph& graph() const { return problem_.graph; }
    [[nodiscard]] const SlotTimes& times() const { return times_; }
    [[nodiscard]] std::span<const Journey> all() const { return journeys_; }
    [[nodiscard]] std::span<const NodeId> sources(const Journey& journey) const {
        return problem_.spreads[journey.spread].sources;
    }
    /// The least time from a stop to the target, in slots; kFar if there is no path.
    [[nodiscard]] std::int32_t rest(const Journey& journey, NodeId from) const {
        return rests_[journey.row * graph().nodes() + from.index()];
    }
    /// The least horizon; kFar if somebody has no path.
    [[nodiscard]] std::int32_t longest() const { return longest_; }

  private:
    void add_row(NodeId target, std::uint32_t kind, CollectiveId collective);

    const SpreadProblem& problem_;
    const SlotTimes times_;
    std::vector<Journey> journeys_;
    std::vector<std::int32_t> rests_;
    std::int32_t longest_ = 0;
};

/// A hop of a path, and the slot at which it starts.
struct SlotStep {
    HopId hop;
    std::int32_t start;
};

/// Cheapest paths through the time-expanded network, up to a horizon.
class SlotSearch {
  public:
    /// The journeys must outlive this.
    SlotSearch(const Journeys& journeys, std::int32_t horizon)
        : journeys_(journeys), horizon_(horizon), place_(journeys.graph().nodes(), kNoPlace) {}

    /// The cheapest of the quickest paths of a chunk that end by the horizon, into `steps`, the last one
    /// first. Precondition: the horizon is not below journeys.longest(). O(hops of quickest paths * slots to
    /// spare).
    void run(const Journey& journey, const SlotMarket& market, std::vector<SlotStep>& steps);
    /// The slots that were looked at so far.
    [[nodiscard]] std::uint64_t work() const { return work_; }

  private:
    static constexpr std::uint32_t kNoPlace = UINT32_MAX;
    static constexpr std::uint32_t kBegins = UINT32_MAX, kWaits = UINT32_MAX - 1;
    /// A node on a quickest path.
    struct Stop {
        NodeId node;
        std::int32_t rest;
        std::uint32_t first_way;
        std::size_t first;  ///< of its labels, one for each slot up to horizon - rest
    };
    /// A hop to another stop.
    struct Way {
        HopId hop;
        std::uint32_t place;
    };
    struct Label {
        float cost;
        std::uint32_t hop;  ///< by which it came
    };

    [[nodiscard]] bool leads_on(const Journey& journey, NodeId from, const HopEnd& out) const;
    void find_stops(const Journey& journey);
    std::uint32_t enter(const Journey& journey, NodeId node);
    [[nodiscard]] std::size_t slots_at(std::uint32_t place) const {
        return static_cast<std::size_t>(horizon_ - stops_[place].rest + 1);
    }
    void wait(std::uint32_t place);
    void go(const Journey& journey, std::uint32_t place, const Way& way, const SlotMarket& market);
    void trace(std::uint32_t place, std::vector<SlotStep>& steps) const;

    const Journeys& journeys_;
    const std::int32_t horizon_;
    std::vector<std::uint32_t> place_;  ///< by node
    std::vector<Stop> stops_;
    std::vector<Way> ways_;  ///< stop by stop
    std::vector<std::uint32_t> order_;
    std::vector<Label> labels_;
    std::uint64_t work_ = 0;
};

}  // namespace tutti::heuristics
