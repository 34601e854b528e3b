#pragma once

#include "core/rng.hpp"
#include "core/stop.hpp"
#include "heuristics/symmetry/quotient_network.hpp"

#include <compare>
#include <optional>

namespace tutti::heuristics {

/// A chunk to be taken from one place to another.
struct QuotientJob {
    std::uint32_t from, to;
};

/// Some hops over one machine.
struct Run {
    std::uint32_t machine, count;
    friend auto operator<=>(const Run&, const Run&) = default;
};
using Way = std::vector<Run>;

/// One way for each job, such that the busiest machine has little to do. Where all places are alike (one
/// orbit) the order of the hops is free, and a way has one run for each machine. None: stopped, a job has no
/// way, or there are too many hops.
[[nodiscard]] std::optional<std::vector<Way>> level_ways(const QuotientNetwork& network,
                                                         const std::vector<QuotientJob>& jobs, Rng& rng,
                                                         const Stop& stop);

}  // namespace tutti::heuristics
