#pragma once

#include "report/layout/graph.hpp"

namespace tutti::report {

/// Places whose distances are near to those in the graph, about 1 per step. Precondition: connected.
/// O(nodes^2) memory and, times some dozen rounds, time.
[[nodiscard]] std::vector<Point> stress_layout(const Graph& graph);

inline constexpr std::size_t kMostForStress = 600;

}  // namespace tutti::report
