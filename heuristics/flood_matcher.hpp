#pragma once

#include "heuristics/spread.hpp"

namespace tutti::heuristics {

/// Event by event, matches free links to chunks that their source has and their destination still wants.
/// For networks of NPUs alone, where each chunk can reach its targets through targets; starts after all links
/// are free.
[[nodiscard]] std::optional<SpreadSolution> flood(const SpreadProblem& problem, Rng& rng, const Stop& stop);

}  // namespace tutti::heuristics
