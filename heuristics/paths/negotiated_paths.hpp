#pragma once

#include "heuristics/spread.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::heuristics {

/// For chunks with one target each (all-to-all, scatter, gather, permute): a path and the times of its hops
/// at once, by negotiating for slots of links. None if a chunk has several targets that are not sources, the
/// network is booked already or too large, or `stop` came before there was a solution.
/// Precondition: why_no_negotiation is empty.
[[nodiscard]] std::optional<SpreadSolution> negotiate_paths(const SpreadProblem& problem, Rng& rng,
                                                            const Stop& stop);

/// Why negotiate_paths cannot solve the problem; empty if it may.
[[nodiscard]] std::string why_no_negotiation(const SpreadProblem& problem);

}  // namespace tutti::heuristics
