#pragma once

#include "heuristics/switches/switch_ways.hpp"

namespace tutti::heuristics {

/// Whose turn it is at each port, and when the port tries again (switch_ports.cpp). Ports have SwitchWays'
/// numbers.
class SwitchPorts {
  public:
    /// Times are those of `chunk`.
    SwitchPorts(const HopGraph& graph, const SwitchWays& ways, const SwitchClusters& clusters, ChunkId chunk);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(states_.size()); }
    /// How long a transfer keeps the port's link.
    [[nodiscard]] Ticks busy(std::uint32_t p) const { return states_[p].busy; }
    /// The source to ask first, for each level of clusters.
    [[nodiscard]] std::uint32_t& next_source(std::uint32_t p, std::size_t level) {
        return states_[p].next[level];
    }

    /// Makes an appointment. Earlier ones are void.
    void appoint(std::uint32_t p, Ticks when) { states_[p].due = when; }
    /// Whether the port has an appointment now. It has none any more then, and was not served.
    [[nodiscard]] bool keeps_appointment(std::uint32_t p, Ticks now);

    /// The port has pulled a chunk that keeps its link for so long.
    void serve(std::uint32_t p, Ticks busy) {
        states_[p].served = true;
        states_[p].pulled = busy;
    }
    [[nodiscard]] bool is_served(std::uint32_t p) const { return states_[p].served; }
    /// Appoints and returns when the port tries again: when its link is free if it was served, else after a
    /// while. `horizon` is when the last link is free.
    [[nodiscard]] Ticks next_try(std::uint32_t p, Ticks now, Ticks horizon);
    /// Those that doze and have a later appointment try now: appends them to `ready`.
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
