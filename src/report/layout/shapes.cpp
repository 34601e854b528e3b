// Grids are found by arithmetic, not by search. If the nodes are numbered by coordinates, the first running
// fastest, and the first dimension has d places, then of a link's two ends either the remainders by d are
// equal or the quotients are. The smallest d for which this holds of all links, and for which at least half
// of all neighbours are joined, is the first dimension; the quotients are a network with one dimension less.

#include "report/layout/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tutti::report {
namespace {

/// Larger circles would bring their nodes closer than the rest of a picture.
constexpr std::size_t kLargestCircle = 120;
constexpr std::size_t kLongestLine = 10;

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Dimension {
    std::uint32_t places = 0;
    bool beyond_neighbours = false;  ///< it has links that skip a place
};

/// Takes the first dimension off the edges of `nodes` nodes.
std::optional<Dimension> first_dimension(Edges& edges, std::uint32_t nodes) {
    for (std::uint32_t d = 2; d <= nodes; ++d) {
        if (nodes % d != 0) continue;
        std::uint64_t neighbours = 0;
        Dimension dimension{d, false};
        Edges rest;
        bool fits = true;
        for (const auto& [a, b] : edges) {
            if (a / d == b / d) {
                neighbours += b - a == 1 ? 1 : 0;
                dimension.beyond_neighbours |= b - a != 1;
            } else if (a % d == b % d) {
                rest.emplace_back(a / d, b / d);
            } else {
                fits = false;
                break;
            }
        }
        const std::uint64_t all = std::uint64_t{nodes} / d * (d - 1);
        if (!fits || 2 * neighbours < all) continue;
        // The same link of several rows is one link between the quotients' nodes, and counts by its share.
        edges = std::move(rest);
        return dimension;
    }
    return std::nullopt;
}

/// As long as this many rows have one of their links, a dimension is there.
Edges thinned(Edges edges, std::uint32_t copies) {
    std::ranges::sort(edges);
    Edges kept;
    for (std::size_t i = 0, j = 0; i < edges.size(); i = j) {
        while (j < edges.size() && edges[j] == edges[i]) ++j;
        if (2 * (j - i) >= copies) kept.push_back(edges[i]);
    }
    return kept;
}

std::optional<std::vector<Dimension>> dimensions(const Graph& graph) {
    Edges edges;
    for (std::uint32_t a = 0; a < graph.size(); ++a) {
        for (const std::uint32_t b : graph.neighbours(a)) {
            if (a < b) edges.emplace_back(a, b);
        }
    }
    std::vector<Dimension> found;
    for (auto nodes = static_cast<std::uint32_t>(graph.size()); nodes > 1;) {
        const auto dimension = first_dimension(edges, nodes);
        if (!dimension) return std::nullopt;
        found.push_back(*dimension);
        nodes /= dimension->places;
        edges = thinned(std::move(edges), dimension->places);
    }
    if (found.size() < 2) return std::nullopt;
    return found;
}

/// 0 at the ends of a row, 1 in its middle.
double bulge(std::uint32_t place, std::uint32_t places) {
    if (places < 3) return 0;
    const double t = static_cast<double>(place) / static_cast<double>(places - 1);
    return 4 * t * (1 - t);
}

double bend_of(const Dimension& dimension) {
    if (!dimension.beyond_neighbours) return 0;
    return std::min(1.0, 0.08 * static_cast<double>(dimension.places + 1));
}

std::vector<Point> circle(const std::vector<std::uint32_t>& order) {
    std::vector<Point> points(order.size());
    const auto count = static_cast<double>(order.size());
    const double radius = count / (2 * std::numbers::pi);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / count;
        points[order[i]] = {radius * std::sin(angle), -radius * std::cos(angle)};
    }
    return points;
}

/// There and back again, row by row; a closed one keeps its first column free for the way home.
std::vector<Point> snake(const std::vector<std::uint32_t>& order, bool closed) {
    const std::size_t count = order.size();
    auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count) * 1.6)));
    std::size_t rows = (count + columns - 1) / columns;
    if (closed && rows % 2 == 1) ++rows;
    std::vector<Point> cells;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t first = closed ? 1 : 0;
        for (std::size_t i = first; i < columns; ++i) {
            const std::size_t column = row % 2 == 0 ? i : columns - 1 - (i - first);
            cells.push_back({static_cast<double>(column), static_cast<double>(row)});
        }
    }
    for (std::size_t row = closed ? rows : 0; row > 0; --row)
        cells.push_back({0, static_cast<double>(row - 1)});
    // A closed curve has more cells than nodes: the nodes are spread over all of it.
    std::vector<Point> points(count);
    for (std::size_t i = 0; i < count; ++i) points[order[i]] = cells[closed ? i * cells.size() / count : i];
    return points;
}

/// Along a line or a ring; empty if it is neither. Precondition: connected.
std::vector<std::uint32_t> along(const Graph& graph) {
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (graph.neighbours(i).size() > 2) return {};
        if (graph.neighbours(i).size() < 2) first = i;
    }
    if (!graph.neighbours(first).empty() && graph.neighbours(first).size() < 2) {
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            if (graph.neighbours(i).size() < 2) {
                first = i;
                break;
            }
        }
    }
    std::vector<std::uint32_t> order{first};
    std::vector<bool> seen(graph.size());
    seen[first] = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const std::uint32_t next : graph.neighbours(order[i])) {
            if (seen[next]) continue;
            seen[next] = true;
            order.push_back(next);
            break;
        }
    }
    return order;
}

std::vector<std::uint32_t> all_of(std::size_t nodes) {
    std::vector<std::uint32_t> order(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) order[i] = i;
    return order;
}

}  // namespace

std::optional<std::vector<Point>> grid_layout(const Graph& graph) {
    const auto found = dimensions(graph);
    if (!found) return std::nullopt;
    const auto& dims = *found;
    const double columns = dims[0].places, rows = dims[1].places;
    std::size_t blocks = 1;
    for (std::size_t i = 2; i < dims.size(); ++i) blocks *= dims[i].places;
    // Blocks side by side, in about as many rows as keep the picture square.
    const double ratio = (rows + 1.5) / (columns + 1.5);
    auto across = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(blocks) * ratio)));
    across = std::clamp<std::size_t>(across, 1, blocks);
    while (blocks % across != 0) ++across;
    std::vector<Point> points(graph.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const std::uint32_t column = i % dims[0].places, row = i / dims[0].places % dims[1].places;
        const std::size_t block = i / dims[0].places / dims[1].places;
        points[i] = {column + bend_of(dims[1]) * bulge(row, dims[1].places) +
                         static_cast<double>(block % across) * (columns + 1.5),
                     row + bend_of(dims[0]) * bulge(column, dims[0].places) +
                         static_cast<double>(block / across) * (rows + 1.5)};
    }
    return points;
}

std::optional<std::vector<Point>> curve_layout(const Graph& graph) {
    const std::size_t count = graph.size();
    const bool full = graph.edges() == count * (count - 1) / 2;
    if (full && count > 2) {
        if (count > kLargestCircle) return std::nullopt;
        return circle(all_of(count));
    }
    const auto order = along(graph);
    if (order.size() != count) return std::nullopt;
    const bool closed = graph.edges() == count && count > 2;
    if (closed) return count > kLargestCircle ? snake(order, true) : circle(order);
    if (count > kLongestLine) return snake(order, false);
    std::vector<Point> points(count);
    for (std::size_t i = 0; i < count; ++i) points[order[i]] = {static_cast<double>(i), 0};
    return points;
}

std::optional<std::vector<Point>> star_layout(const Graph& graph) {
    if (graph.size() < 4 || graph.size() > kLargestCircle || graph.edges() + 1 != graph.size())
        return std::nullopt;
    std::vector<std::uint32_t> others;
    std::optional<std::uint32_t> hub;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (graph.neighbours(i).size() + 1 == graph.size()) {
            hub = i;
        } else {
            others.push_back(i);
        }
    }
    if (!hub) return std::nullopt;
    const auto around = circle(all_of(others.size()));
    std::vector<Point> points(graph.size());
    for (std::size_t i = 0; i < others.size(); ++i) points[others[i]] = around[i];
    points[*hub] = {0, 0};
    return points;
}

std::vector<Point> rows_layout(std::size_t nodes) {
    const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(nodes) * 1.6)));
    std::vector<Point> points(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
        points[i] = {static_cast<double>(i % columns), static_cast<double>(i / columns)};
    }
    return points;
}

}  // namespace tutti::report
