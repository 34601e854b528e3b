// Stress majorization (Gansner, Koren, North: Graph Drawing by Stress Majorization, 2004): move every node to
// where the others want it, each at its distance in the graph and with weight 1/distance^2, until little
// moves. The stress never grows. What it finds depends on where it starts, so the start is a drawing too: two
// pivots far from each other, and a third far from both, give coordinates (distance to the one less distance
// to the other, and to the third), as in pivot MDS with three pivots; a little twist by node number parts
// those that no pivot can tell apart. Nodes are moved one after the other, each seeing the places of those
// before it (Gauss-Seidel), which needs half the rounds of moving all at once.

#include "report/layout/stress.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tutti::report {
namespace {

constexpr int kStressRounds = 120;
constexpr double kStill = 1e-3;  ///< the largest move, in steps of the graph

std::uint32_t farthest(const std::vector<std::uint32_t>& steps) {
    return static_cast<std::uint32_t>(std::ranges::max_element(steps) - steps.begin());
}

std::vector<Point> start_of(const Graph& graph, const std::vector<std::vector<std::uint32_t>>& steps) {
    const std::uint32_t a = farthest(steps[0]), b = farthest(steps[a]);
    std::vector<std::uint32_t> both(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) both[i] = std::min(steps[a][i], steps[b][i]);
    const std::uint32_t c = farthest(both);
    std::vector<Point> points(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
        const double angle = 2 * std::numbers::pi * std::numbers::phi * static_cast<double>(i);
        points[i] = {(static_cast<double>(steps[a][i]) - steps[b][i]) / 2 + 0.3 * std::cos(angle),
                     static_cast<double>(steps[c][i]) + 0.3 * std::sin(angle)};
    }
    return points;
}

/// Moves one node to where the others want it; returns how far.
double improve(std::size_t i, std::vector<Point>& points, const std::vector<std::uint32_t>& steps) {
    double x = 0, y = 0, sum = 0;
    for (std::size_t j = 0; j < points.size(); ++j) {
        if (j == i) continue;
        const double wanted = steps[j], weight = 1 / (wanted * wanted);
        const double dx = points[i].x - points[j].x, dy = points[i].y - points[j].y;
        const double apart = std::sqrt(dx * dx + dy * dy);
        const double pull = apart > 1e-9 ? wanted / apart : 0;
        x += weight * (points[j].x + pull * dx);
        y += weight * (points[j].y + pull * dy);
        sum += weight;
    }
    const Point to{x / sum, y / sum};
    const double moved = std::max(std::abs(to.x - points[i].x), std::abs(to.y - points[i].y));
    points[i] = to;
    return moved;
}

}  // namespace

std::vector<Point> stress_layout(const Graph& graph) {
    if (graph.size() < 2) return std::vector<Point>(graph.size());
    std::vector<std::vector<std::uint32_t>> steps;
    for (std::uint32_t i = 0; i < graph.size(); ++i) steps.push_back(graph.distances({i}));
    expects(std::ranges::all_of(steps[0], [&](std::uint32_t s) { return s < graph.size(); }));
    std::vector<Point> points = start_of(graph, steps);
    for (int round = 0; round < kStressRounds; ++round) {
        double most = 0;
        for (std::size_t i = 0; i < points.size(); ++i) most = std::max(most, improve(i, points, steps[i]));
        if (most < kStill) break;
    }
    return points;
}

}  // namespace tutti::report
