#pragma once

#include "heuristics/quotient_flood.hpp"

namespace tutti::heuristics {

/// A chunk to be taken from one place to another.
struct QuotientJob {
    std::uint32_t from, to;
};

/// Takes every job along a way of its own, no machine booked twice at once. `spread` in the transfers is the
/// job's position. Ends early at `target`; `effort` as in quotient_synthesis. None: stopped, or out of reach.
[[nodiscard]] std::optional<QuotientFlood> quotient_routes(const QuotientNetwork& network,
                                                           const std::vector<QuotientJob>& jobs, Ticks target,
                                                           std::uint64_t effort, Rng& rng, const Stop& stop);

}  // namespace tutti::heuristics
