#pragma once

#include "core/rng.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "heuristics/symmetry/quotient_network.hpp"

#include <optional>
#include <vector>

namespace tutti::heuristics {

struct QuotientExchange {
    Ticks makespan;
    std::vector<QuotientTransfer> transfers;
    std::vector<Op> ops;  ///< of each transfer
};

/// Sums of all places, at all places, for `spreads` chunks: each along a tree whose edges carry a message
/// each way, no machine booked twice at once. Looks for one below `below`, about `effort` messages are tried;
/// stops at `target`. None: nothing was found, or no tree has links both ways.
[[nodiscard]] std::optional<QuotientExchange> quotient_exchange(const QuotientNetwork& network,
                                                                std::size_t spreads, Ticks below,
                                                                Ticks target, std::uint64_t effort, Rng& rng,
                                                                const Stop& stop);

}  // namespace tutti::heuristics
