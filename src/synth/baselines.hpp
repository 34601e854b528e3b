#pragma once

#include "synth/synthesize.hpp"

namespace tutti::synth {

/// The makespan of a simpler routing of the same collectives.
struct Baseline {
    std::optional<Ticks> makespan;
    bool infeasible = false;  ///< there can be none
    std::string why_not;      ///< where there is none: who cannot be reached, or that a limit came first
};

/// Shows the gain from planning process groups together, and from relays: the same synthesis without either.
struct Baselines {
    Baseline members_only;       ///< all at once, each chunk relayed by members of its group alone
    Baseline one_after_another;  ///< each collective has the network to itself, then the next begins
};

/// Both by the greedy method; every schedule behind them is verified. The request's limits hold for each.
[[nodiscard]] Baselines baselines(const Instance& instance, const Request& request);

}  // namespace tutti::synth
