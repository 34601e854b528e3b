#pragma once

#include "heuristics/levels/level_plan.hpp"

#include <span>

namespace tutti::heuristics {

/// Spreads chunks that have one source each, by exchanges along the dimensions of a hypercube. With
/// `far_first` the first dimension is the one between the largest parts of the cluster. False: the NPUs of
/// some source are not 2^q in number, or have no path to each other, or it was stopped.
[[nodiscard]] bool dimension_exchange(Cluster& cluster, MessagePlacer::Direction direction,
                                      std::span<const LevelItem> items, bool far_first, MessagePlacer& placer,
                                      const Stop& stop);

}  // namespace tutti::heuristics
