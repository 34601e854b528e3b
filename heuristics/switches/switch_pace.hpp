#pragma once

#include "heuristics/switches/switch_holdings.hpp"
#include "heuristics/switches/switch_ports.hpp"

namespace tutti::heuristics {

/// How long a flood must take, and so which clusters have time to spare: what they lack, over the rate at
/// which their links can bring it.
class SwitchPace {
  public:
    /// The references must outlive this. `begin` is when the first chunk is there.
    SwitchPace(const SpreadProblem& problem, const SwitchClusters& clusters, const SwitchWays& ways,
               const SwitchHoldings& holdings, const SwitchPorts& ports, Ticks begin);

    /// Whether the cluster of that level around the node has no time to spare: bringing in what it lacks will
    /// take until the end that is expected, but for one transfer.
    [[nodiscard]] bool is_tight(std::size_t level, NodeId node, Ticks now) const;
    /// Whether bringing in what the cluster lacks takes a good part of the time that is left.
    [[nodiscard]] bool is_far_first(std::size_t level, NodeId node, Ticks now) const;

  private:
    [[nodiscard]] double time_to_fill(std::size_t level, std::uint32_t cluster) const {
        return static_cast<double>(holdings_.lacking(level, cluster)) / clusters_.rate(level, cluster);
    }
    [[nodiscard]] double elapsed(Ticks now) const { return static_cast<double>((now - begin_).count()); }

    const SwitchClusters& clusters_;
    const SwitchHoldings& holdings_;
    const Ticks begin_;
    double total_rate_ = 0;  ///< of the ports of all targets
    double expected_ = 0;    ///< from `begin_` on, how long it takes at least
};

}  // namespace tutti::heuristics
