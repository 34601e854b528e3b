#pragma once

#include "core/schedule.hpp"
#include "heuristics/spread.hpp"

#include <optional>
#include <vector>

namespace tutti::test {

/// An instance without reductions, as heuristics are asked about it.
struct SpreadCase {
    explicit SpreadCase(InstanceParts parts);
    SpreadCase(const SpreadCase&) = delete;

    Instance instance;
    heuristics::HopGraph graph;
    heuristics::SpreadProblem problem;  ///< its target is the simple bound

    /// The schedule that the transfers stand for.
    [[nodiscard]] Schedule schedule(const heuristics::SpreadSolution& solution) const;
    /// Whether there is a solution and the verifier finds it valid, makespan and all.
    [[nodiscard]] bool is_valid(const std::optional<heuristics::SpreadSolution>& solution) const;
};

/// Takes out what reduces, so that spreads are all there is; collectives may be none then.
[[nodiscard]] InstanceParts without_reductions(InstanceParts parts);

/// The NPUs in groups of `size`, drawn at random, with a collective on each: kinds[g % kinds.size()].
[[nodiscard]] InstanceParts scattered_groups(TopologyParts topology, std::size_t groups, std::size_t size,
                                             const std::vector<CollectiveKind>& kinds, Rng& rng);

}  // namespace tutti::test
