#pragma once

#include "core/rng.hpp"
#include "core/stop.hpp"
#include "heuristics/symmetry/quotient_network.hpp"

#include <optional>

namespace tutti::heuristics {

/// Spreads one chunk from each of `roots` (places) to all places, no machine booked twice at once. Improves
/// the result `effort` times; stops at `target`. None: stopped, or some place cannot be reached.
[[nodiscard]] std::optional<QuotientFlood> quotient_flood(const QuotientNetwork& network,
                                                          const std::vector<std::uint32_t>& roots,
                                                          Ticks target, std::uint64_t effort, Rng& rng,
                                                          const Stop& stop);

}  // namespace tutti::heuristics
