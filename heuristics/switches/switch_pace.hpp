#pragma once

#include "heuristics/switches/switch_holdings.hpp"
#include "heuristics/switches/switch_ports.hpp"

namespace tutti::heuristics {

/// Estimates how long a flood takes, and which clusters have slack: their missing chunks divided by the rate
/// of the links into them.
class SwitchPace {
  public:
    /// The references must outlive this. `begin` is when the first chunk is available.
    SwitchPace(const SpreadProblem& problem, const SwitchClusters& clusters, const SwitchPaths& paths,
               const SwitchHoldings& holdings, const SwitchPorts& ports, Ticks begin);

    /// Whether the cluster of that level around the node has no slack: its missing chunks take until the
    /// expected end, less one transfer.
    [[nodiscard]] bool is_tight(std::size_t level, NodeId node, Ticks now) const;
    /// Whether the cluster's missing chunks take a large share of the remaining time.
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
