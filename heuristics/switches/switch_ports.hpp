#pragma once

#include "heuristics/switches/switch_paths.hpp"

namespace tutti::heuristics {

/// The next source of each port, and when the port tries again (switch_ports.cpp). Ports have SwitchPaths'
/// numbers.
class SwitchPorts {
  public:
    /// Times are those of `chunk`.
    SwitchPorts(const HopGraph& graph, const SwitchPaths& paths, const SwitchClusters& clusters,
                ChunkId chunk);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(states_.size()); }
    /// How long a transfer keeps the port's link.
    [[nodiscard]] Ticks busy(std::uint32_t p) const { return states_[p].busy; }
    /// The source to try first, for each level of clusters.
    [[nodiscard]] std::uint32_t& next_source(std::uint32_t p, std::size_t level) {
        return states_[p].next[level];
    }

    /// Sets when the port tries next. Replaces an earlier time.
    void wake_at(std::uint32_t p, Ticks when) { states_[p].due = when; }
    /// Whether the port is due now. If so, clears its time and marks it as not served.
    [[nodiscard]] bool take_due(std::uint32_t p, Ticks now);

    /// Records that the port has pulled a chunk that keeps its link busy for that long.
    void serve(std::uint32_t p, Ticks busy) {
        states_[p].served = true;
        states_[p].pulled = busy;
    }
    [[nodiscard]] bool is_served(std::uint32_t p) const { return states_[p].served; }
    /// Sets and returns when the port tries again: when its link is free if it was served, else after a
    /// delay. `horizon` is when the last link is free.
    [[nodiscard]] Ticks next_try(std::uint32_t p, Ticks now, Ticks horizon);
    /// Wakes the ports with long delays: appends them to `ready`.
    void wake(Ticks now, std::vector<std::uint32_t>& ready);

  private:
    static constexpr Ticks kNoAppointment{-1};
    struct State {
        Ticks busy;                       ///< of its link, with the first chunk
        Ticks pulled;                     ///< the same with the chunk that it pulled last
        Ticks patience;                   ///< until it tries again
        Ticks due = kNoAppointment;       ///< when it tries again; earlier appointments are void
        std::uint32_t in_vain = 0;        ///< tries since it was last served or woken
        std::vector<std::uint32_t> next;  ///< the source to ask first, for each level
        bool served = false;
    };
    std::vector<State> states_;
    std::vector<std::uint32_t> dozing_;  ///< ports
};

}  // namespace tutti::heuristics
