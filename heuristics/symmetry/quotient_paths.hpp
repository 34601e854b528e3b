#pragma once

#include "core/rng.hpp"
#include "core/stop.hpp"
#include "heuristics/symmetry/quotient_network.hpp"

#include <compare>
#include <optional>

namespace tutti::heuristics {

/// A chunk to be sent from one place to another.
struct QuotientJob {
    std::uint32_t from, to;
};

/// Some hops over one machine.
struct Run {
    std::uint32_t machine, count;
    friend auto operator<=>(const Run&, const Run&) = default;
};
using JobPath = std::vector<Run>;

/// One path for each job, such that the load of the busiest machine is small. With one orbit of places the
/// order of the hops does not matter, and a path has one run for each machine. None: stopped, a job has no
/// path, or there are too many hops.
[[nodiscard]] std::optional<std::vector<JobPath>> balanced_paths(const QuotientNetwork& network,
                                                                 const std::vector<QuotientJob>& jobs,
                                                                 Rng& rng, const Stop& stop);

}  // namespace tutti::heuristics
