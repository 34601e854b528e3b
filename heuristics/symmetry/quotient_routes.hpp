#pragma once

#include "heuristics/symmetry/quotient_paths.hpp"

namespace tutti::heuristics {

/// Routes every job along a path of its own, no machine booked twice at once. `spread` in the transfers is
/// the job's position. Ends early at `target`; `effort` as in quotient_synthesis. None: stopped, or
/// unreachable.
[[nodiscard]] std::optional<QuotientFlood> quotient_routes(const QuotientNetwork& network,
                                                           const std::vector<QuotientJob>& jobs, Ticks target,
                                                           std::uint64_t effort, Rng& rng, const Stop& stop);

}  // namespace tutti::heuristics
