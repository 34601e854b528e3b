#pragma once

#include "heuristics/exchange/exchanges.hpp"

#include <optional>

namespace tutti::heuristics {

/// Trees for all-reduces on networks of NPUs, changed edge by edge by simulated annealing. Ends at `target`,
/// after `messages` simulated ones, or when `stop` says so. None: it does not apply, or was stopped first.
[[nodiscard]] std::optional<Schedule> anneal_exchange(const Exchanges& exchanges, Ticks target,
                                                      std::uint64_t seed, std::uint64_t messages,
                                                      const Stop& stop);

/// Why there are no such trees; empty if there may be.
[[nodiscard]] std::string why_no_annealed_trees(const Instance& instance);

}  // namespace tutti::heuristics
