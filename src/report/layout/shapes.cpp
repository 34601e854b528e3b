// Grids are found by arithmetic, not by search. If the nodes are numbered by coordinates, the first running
// fastest, and the first dimension has d places, then of a link's two ends either the remainders by d are
// equal or the quotients are. The smallest d for which this holds of all links, and for which at least half
// of all neighbours are joined, is the first dimension; the quotients are a network with one dimension less.

#include "report/layout/shapes.hpp"

#include "core/expects.hpp"

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
        edges = std::move(rest);
        return dimension;
    }
    return std::nullopt;
}

/// A link between two quotients is there if at least half of the links that it stands for are.
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

/// From coordinates to places: the first two dimensions are columns and rows, a short third one goes into the
/// depth of the cell, and all others are blocks of these, side by side. Whatever leads from block to block
/// leads a little down or aside, so that no link lies on another.
class Projection {
  public:
    explicit Projection(const std::vector<Dimension>& dims)
        : columns_(dims[0]), rows_(dims[1]), beyond_(dims.size() > 2 && dims[2].beyond_neighbours) {
        const bool deep = dims.size() > 2 && dims[2].places <= kDeepest;
        depth_ = deep ? dims[2].places : 1;
        std::size_t blocks = 1;
        for (std::size_t i = deep ? 3 : 2; i < dims.size(); ++i) blocks *= dims[i].places;
        // In about as many rows as keep the picture square.
        const double ratio = (rows_.places + kGap) / (columns_.places + kGap);
        across_ = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(blocks) * ratio)));
        across_ = std::clamp<std::size_t>(across_, 1, blocks);
        while (blocks % across_ != 0) ++across_;
        one_row_ = across_ == blocks;
    }

    Point operator()(std::uint32_t node) const {
        const std::uint32_t column = node % columns_.places, row = node / columns_.places % rows_.places;
        const std::uint32_t rest = node / columns_.places / rows_.places, deep = rest % depth_;
        const std::size_t block = rest / depth_;
        Point place{column + bend_of(rows_, row), row + bend_of(columns_, column)};
        if (depth_ > 1) {
            const double step = deep * 0.8 / depth_, aside = beyond_ ? 0.15 * bulge(deep, depth_) : 0;
            place = {place.x + step - aside, place.y + 0.66 * step + aside};
        }
        const auto x = static_cast<double>(block % across_), y = static_cast<double>(block / across_);
        const bool bent = beyond_ && depth_ == 1 && one_row_;
        const double down =
            bent ? bulge(static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(across_)) : 0;
        return {place.x + x * (columns_.places + kGap) + kSkew * y,
                place.y + y * (rows_.places + kGap) + kSkew * x + down};
    }

  private:
    static constexpr std::uint32_t kDeepest = 4;
    static constexpr double kGap = 1.5, kSkew = 0.35;

    /// How far a place is moved across its row.
    static double bend_of(const Dimension& row, std::uint32_t place) {
        if (!row.beyond_neighbours) return 0;
        return std::min(1.0, 0.08 * (row.places + 1)) * bulge(place, row.places);
    }

    Dimension columns_, rows_;
    std::uint32_t depth_ = 1;
    bool beyond_, one_row_ = true;
    std::size_t across_ = 1;
};

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
    expects(graph.components().size() == 1);
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
    const auto dims = dimensions(graph);
    if (!dims) return std::nullopt;
    const Projection place(*dims);
    std::vector<Point> points;
    for (std::uint32_t i = 0; i < graph.size(); ++i) points.push_back(place(i));
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
