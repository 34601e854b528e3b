#pragma once

#include "heuristics/levels/level_plan.hpp"

#include <span>

namespace tutti::heuristics {

/// The orders of rounds (block_rounds). On a cube the first dimension is the one between the smallest parts
/// of the cluster, or between the largest.
enum class BlockOrder { NearCube, FarCube, Circulant };

/// Spreads chunks that have one source each, in rounds. False: the order does not suit the number of NPUs of
/// some source, or they have no path to each other, or it was stopped.
[[nodiscard]] bool block_broadcast(Cluster& cluster, MessagePlacer::Direction direction,
                                   std::span<const LevelItem> items, BlockOrder order, MessagePlacer& placer,
                                   const Stop& stop);

}  // namespace tutti::heuristics
