#pragma once

#include "heuristics/spread.hpp"

#include <string>

namespace tutti::heuristics {

/// Matching of chunks to free ports on networks with switches: each free port of an NPU pulls a chunk that
/// its NPU lacks from one that has it, over switches whose links are free. For all-gathers, broadcasts and
/// their reverses. None where every hop is a link between NPUs (flood is better there), where a target can
/// only be reached through NPUs that are no targets, or where the tables would be too large.
[[nodiscard]] std::optional<SpreadSolution> flood_switched(const SpreadProblem& problem, Rng& rng,
                                                           const Stop& stop);

/// Why flood_switched cannot solve the problem; empty if it may.
[[nodiscard]] std::string why_no_switch_flood(const SpreadProblem& problem);

}  // namespace tutti::heuristics
