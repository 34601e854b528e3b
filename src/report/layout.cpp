// Known shapes first: a mesh must look like a mesh. Then layers, where there are switches. Otherwise a layout
// that places nodes that are close in the network close together. In the end everything is fitted into the
// unit square, and nodes that are too close are separated.

#include "report/layout.hpp"

#include "report/layout/layers.hpp"
#include "report/layout/shapes.hpp"
#include "report/layout/spread.hpp"
#include "report/layout/stress.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::report {
namespace {

std::vector<Point> connected_layout(const Graph& graph) {
    if (auto places = curve_layout(graph)) return *places;
    return graph.size() <= kMostForStress ? stress_layout(graph) : rows_layout(graph.size());
}

/// Each component by itself, side by side in rows; large ones first.
std::vector<Point> components_layout(const Graph& graph) {
    auto components = graph.components();
    if (components.size() == 1) return connected_layout(graph);
    std::ranges::stable_sort(components, std::greater{}, &std::vector<std::uint32_t>::size);
    const double most = 1.5 * std::sqrt(2 * static_cast<double>(graph.size()));
    std::vector<Point> places(graph.size());
    double x = 0, y = 0, height = 0;
    for (const auto& nodes : components) {
        auto part = connected_layout(graph.part(nodes));
        const auto [left, right] = std::ranges::minmax(part, {}, &Point::x);
        const auto [top, bottom] = std::ranges::minmax(part, {}, &Point::y);
        const double width = right.x - left.x;
        if (x > 0 && x + width > most) {
            x = 0;
            y += height + 1.5;
            height = 0;
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            places[nodes[i]] = {x + part[i].x - left.x, y + part[i].y - top.y};
        }
        x += width + 1.5;
        height = std::max(height, bottom.y - top.y);
    }
    return places;
}

std::vector<Point> unfitted(const Topology& topology) {
    const Graph graph(topology);
    if (auto star = star_layout(graph)) return *star;
    if (topology.switches() > 0) {
        if (auto layers = layered_layout(graph, topology.npus())) return *layers;
    } else if (auto grid = grid_layout(graph)) {
        return *grid;
    }
    return components_layout(graph);
}

}  // namespace

std::vector<Point> layout(const Topology& topology) {
    std::vector<Point> points = unfitted(topology);
    fit(points);
    spread(points, kRoom / std::sqrt(static_cast<double>(points.size())));
    return points;
}

}  // namespace tutti::report
