#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// A SpreadProblem prepared for simulation: its graph, with a table of the times of all hops. Spreads are
/// numbered as the problem lists them; chunks of equal bytes share a **size**.
struct FloodNetwork {
    struct Times {
        Ticks transit;
        Ticks busy;
        std::uint32_t arrival_lane;  ///< both are one where they are equal
        std::uint32_t free_lane;
    };

    /// The problem's graph must outlive this. O(hops * sizes * log + spreads).
    explicit FloodNetwork(const SpreadProblem& problem);

    [[nodiscard]] std::size_t nodes() const { return graph_.nodes(); }
    [[nodiscard]] std::size_t hops() const { return graph_.hops(); }
    [[nodiscard]] std::uint32_t from(std::size_t hop) const { return graph_.from(HopId(hop)).value(); }
    [[nodiscard]] std::uint32_t to(std::size_t hop) const { return graph_.to(HopId(hop)).value(); }
    [[nodiscard]] std::span<const HopEnd> out(std::size_t node) const { return graph_.out(NodeId(node)); }
    [[nodiscard]] std::span<const HopEnd> in(std::size_t node) const { return graph_.in(NodeId(node)); }
    [[nodiscard]] std::size_t sizes() const { return hops() == 0 ? 0 : kind_of_.size() / hops(); }
    [[nodiscard]] const Times& times(std::size_t size, std::size_t hop) const {
        return kinds_.size() == 1 ? kinds_.front() : kinds_[kind_of_[size * hops() + hop]];
    }

    std::vector<std::uint32_t> size_of;  ///< per spread
    std::vector<std::uint32_t> rank;     ///< per hop: 0 for the fastest
    std::size_t ranks = 0;
    /// Distinct delays between a start and its effect: an arrival, a hop that becomes free, or both. Events
    /// of one tick are ordered by lane.
    std::size_t lanes = 0;
    /// Whether delays decrease from lane to lane: then events in the order of their causes are ordered by
    /// lane.
    bool lanes_fall = true;

  private:
    const HopGraph& graph_;
    std::vector<Times> kinds_;            ///< the distinct ones
    std::vector<std::uint32_t> kind_of_;  ///< per size and hop
};

}  // namespace tutti::heuristics
