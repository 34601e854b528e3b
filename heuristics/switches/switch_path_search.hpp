#pragma once

#include "core/rng.hpp"
#include "heuristics/link_calendar.hpp"
#include "heuristics/switches/switch_paths.hpp"

namespace tutti::heuristics {

/// Finds paths through the fabric whose links are free.
class PathThroughSwitches {
  public:
    struct Step {
        HopId hop;
        Ticks start;
    };

    /// All must outlive this.
    PathThroughSwitches(const HopGraph& graph, const SwitchPaths& paths, const LinkCalendar& calendar,
                        Rng& rng)
        : graph_(graph), paths_(paths), calendar_(calendar), rng_(rng) {}

    /// Whether some first link from the holder towards the start of the hop `last` is free now.
    [[nodiscard]] bool can_leave(NodeId holder, HopId last, Ticks now) const;

    /// Searches a path from the holder over `last` that starts now: the earliest arrival among some. It waits
    /// at each switch for less than a transfer's time. False if none is found.
    bool find(NodeId holder, HopId last, ChunkId chunk, Ticks now);
    /// The path that was found.
    [[nodiscard]] const std::vector<Step>& path() const { return best_; }

  private:
    bool walk(NodeId at, std::uint16_t distance, Ticks ready, bool first);
    bool step(const SwitchPaths::Onward& onward, std::uint16_t distance, Ticks ready, bool first);
    bool finish(Ticks ready);
    [[nodiscard]] bool is_free(HopId hop, Ticks now) const {
        return calendar_.is_free(graph_.legs(hop).front(), now);
    }
    [[nodiscard]] Ticks busy(HopId hop) const;

    const HopGraph& graph_;
    const SwitchPaths& paths_;
    const LinkCalendar& calendar_;
    Rng& rng_;
    std::vector<Step> path_, best_;  ///< being looked at; the best so far
    std::span<const std::uint16_t> distances_;
    HopId last_;
    ChunkId chunk_;
    Ticks last_start_;      ///< of the best so far
    Ticks patience_;        ///< no wait may be as long as this, or as the next hop keeps its link
    std::size_t left_ = 0;  ///< ways still to be looked at
};

}  // namespace tutti::heuristics
