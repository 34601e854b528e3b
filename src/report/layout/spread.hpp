#pragma once

#include "report/layout.hpp"

#include <span>

namespace tutti::report {

/// Stretches the points to fill the unit square, an axis at most 2.5 times as much as the other.
void fit(std::span<Point> points);

/// Whether any two points are at least so far apart. O(points) for distances of kRoom / sqrt(points).
[[nodiscard]] bool all_apart(std::span<const Point> points, double room);

/// Pushes points apart within the unit square until any two are at least `room` apart; where pushing does not
/// get there they are lined up on a grid in the order in which they lie. Precondition: room <= 0.5 /
/// sqrt(points).
void spread(std::span<Point> points, double room);

}  // namespace tutti::report
