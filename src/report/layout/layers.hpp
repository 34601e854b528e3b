#pragma once

#include "report/layout/graph.hpp"

#include <optional>

namespace tutti::report {

/// A network with switches that lead upwards: NPUs at the bottom in blocks (those of one box, or of one
/// switch), above them the switches by their distance from NPUs, each over the middle of what it joins. None
/// if switches of one level are joined to each other, so that there is no up and down. Places are about 1
/// apart. O(n * log n + links), and the layouts of the blocks.
[[nodiscard]] std::optional<std::vector<Point>> layered_layout(const Graph& graph, std::size_t npus);

}  // namespace tutti::report
