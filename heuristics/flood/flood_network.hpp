#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// A SpreadProblem laid out for simulation: plain arrays, the times of all hops looked up once. Spreads are
/// numbered as the problem lists them; chunks of equal bytes share a **size**.
struct FloodNetwork {
    struct Times {
        Ticks transit;
        Ticks busy;
        std::uint32_t arrival_lane;  ///< both are one where they are equal
        std::uint32_t free_lane;
    };

    /// O(hops * sizes * log + spreads).
    explicit FloodNetwork(const SpreadProblem& problem);

    [[nodiscard]] std::size_t nodes() const { return out_begin.size() - 1; }
    [[nodiscard]] std::size_t hops() const { return from.size(); }
    [[nodiscard]] std::size_t sizes() const { return hops() == 0 ? 0 : kind_of_.size() / hops(); }
    [[nodiscard]] const Times& times(std::size_t size, std::size_t hop) const {
        return kinds_.size() == 1 ? kinds_.front() : kinds_[kind_of_[size * hops() + hop]];
    }
    [[nodiscard]] std::span<const std::uint32_t> out(std::size_t node) const {
        return std::span(out_hop).subspan(out_begin[node], out_begin[node + 1] - out_begin[node]);
    }

    [[nodiscard]] std::span<const std::uint32_t> in(std::size_t node) const {
        return std::span(in_hop).subspan(in_begin[node], in_begin[node + 1] - in_begin[node]);
    }

    std::vector<std::uint32_t> from, to;
    std::vector<std::uint32_t> out_begin, out_hop;  ///< the hops that leave each node
    std::vector<std::uint32_t> in_begin, in_hop;    ///< the hops that enter each node
    std::vector<std::uint32_t> size_of;             ///< per spread
    std::vector<std::uint32_t> rank;                ///< per hop: 0 for the fastest
    std::size_t ranks = 0;
    /// Distinct delays between a start and what it causes: an arrival, a hop that is free, or both. What
    /// happens at one tick is ordered by lane.
    std::size_t lanes = 0;
    /// Whether a lane's delay is always longer than the next one's: events that come in the order in which
    /// they were caused are ordered by lane then.
    bool lanes_fall = true;

  private:
    std::vector<Times> kinds_;            ///< the distinct ones
    std::vector<std::uint32_t> kind_of_;  ///< per size and hop
};

}  // namespace tutti::heuristics
