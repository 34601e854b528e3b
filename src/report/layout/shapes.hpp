#pragma once

#include "report/layout/graph.hpp"

#include <optional>

namespace tutti::report {

/// Networks that people know by sight. Each answers with places about 1 apart, or not at all.

/// Meshes, tori, hypercubes and other products, numbered as our generators do it, also with some links gone:
/// rows and columns. Rows with links beyond neighbours are bent, so that such a link passes no other node. A
/// short third dimension goes into the depth; more dimensions are blocks side by side.
[[nodiscard]] std::optional<std::vector<Point>> grid_layout(const Graph& graph);

/// Rings and fully connected networks as circles, lines as lines, either folded where they are long.
[[nodiscard]] std::optional<std::vector<Point>> curve_layout(const Graph& graph);

/// A node in the middle that is all others' only neighbour.
[[nodiscard]] std::optional<std::vector<Point>> star_layout(const Graph& graph);

/// In order of their numbers, row by row.
[[nodiscard]] std::vector<Point> rows_layout(std::size_t nodes);

}  // namespace tutti::report
