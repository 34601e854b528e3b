#pragma once

#include "core/topology.hpp"

#include <vector>

namespace tutti::report {

/// Where a node is drawn, from 0 to 1 each; y grows downwards.
struct Point {
    double x = 0, y = 0;
    friend bool operator==(const Point&, const Point&) = default;
};

/// A place for every node, the same in every run. Any two are at least kRoom / sqrt(nodes) apart. O(nodes^2 +
/// links) at most.
[[nodiscard]] std::vector<Point> layout(const Topology& topology);

inline constexpr double kRoom = 0.25;

}  // namespace tutti::report
