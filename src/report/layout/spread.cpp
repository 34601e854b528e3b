// Points that are too close are moved apart, half the distance each. A grid of cells as wide as the minimum
// distance finds them: points that are too close are in the same cell or in adjacent ones. Dense clusters
// take many rounds, so after some rounds the points are put in rows of equal length by y, each sorted by x,
// which keeps relative positions as far as possible and guarantees the distance.

#include "report/layout/spread.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

namespace tutti::report {
namespace {

constexpr int kRounds = 60;
constexpr double kMostStretch = 2.5;

class Cells {
  public:
    Cells(std::span<const Point> points, double room)
        : points_(points),
          side_(static_cast<std::size_t>(
              std::clamp(std::floor(1 / room), 1.0, 2 * std::sqrt(static_cast<double>(points.size())) + 1))),
          first_(side_ * side_ + 1),
          order_(points.size()) {
        for (const Point& point : points) ++first_[cell(point) + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        for (std::uint32_t i = 0; i < points.size(); ++i) order_[next[cell(points[i])]++] = i;
    }

    /// Calls visit(i, j), i < j, for all pairs that may be close.
    template <class Visit>
    void close_pairs(const Visit& visit) const {
        for (std::uint32_t i = 0; i < points_.size(); ++i) {
            const std::size_t row = line(points_[i].y), column = line(points_[i].x);
            for (std::size_t r = row > 0 ? row - 1 : 0; r <= std::min(row + 1, side_ - 1); ++r) {
                for (std::size_t c = column > 0 ? column - 1 : 0; c <= std::min(column + 1, side_ - 1); ++c) {
                    for (std::uint32_t at = first_[r * side_ + c]; at < first_[r * side_ + c + 1]; ++at) {
                        if (order_[at] > i) visit(i, order_[at]);
                    }
                }
            }
        }
    }

  private:
    [[nodiscard]] std::size_t line(double value) const {
        const double at = std::floor(std::clamp(value, 0.0, 1.0) * static_cast<double>(side_));
        return std::min(static_cast<std::size_t>(at), side_ - 1);
    }
    [[nodiscard]] std::size_t cell(const Point& point) const { return line(point.y) * side_ + line(point.x); }

    std::span<const Point> points_;
    std::size_t side_;
    std::vector<std::uint32_t> first_, order_;
};

double apart(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

bool push_apart(std::span<Point> points, double room) {
    const std::vector<Point> before(points.begin(), points.end());
    bool done = true;
    Cells(before, room).close_pairs([&](std::uint32_t i, std::uint32_t j) {
        double distance = apart(points[i], points[j]);
        if (distance >= room) return;
        done = false;
        double dx = points[j].x - points[i].x, dy = points[j].y - points[i].y;
        if (distance < 1e-9) {
            const double angle = 2 * std::numbers::pi * std::numbers::phi * (i + 0.5 * j);
            dx = std::cos(angle), dy = std::sin(angle), distance = 1;
        }
        const double push = (room * 1.02 - std::min(distance, room)) / 2 / distance;
        for (const auto& [k, sign] : {std::pair{i, -1.0}, std::pair{j, 1.0}}) {
            points[k].x = std::clamp(points[k].x + sign * push * dx, 0.0, 1.0);
            points[k].y = std::clamp(points[k].y + sign * push * dy, 0.0, 1.0);
        }
    });
    return done;
}

void line_up(std::span<Point> points) {
    const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(points.size()))));
    const double step = side > 1 ? 1 / static_cast<double>(side - 1) : 0;
    std::vector<std::uint32_t> order(points.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return points[i].y; });
    for (std::size_t row = 0; row * side < order.size(); ++row) {
        const auto first = order.begin() + static_cast<std::ptrdiff_t>(row * side);
        const auto last =
            order.begin() + static_cast<std::ptrdiff_t>(std::min((row + 1) * side, order.size()));
        std::stable_sort(first, last,
                         [&](std::uint32_t a, std::uint32_t b) { return points[a].x < points[b].x; });
        for (auto at = first; at != last; ++at) {
            points[*at] = {static_cast<double>(at - first) * step, static_cast<double>(row) * step};
        }
    }
}

}  // namespace

void fit(std::span<Point> points) {
    const auto [left, right] = std::ranges::minmax(points, {}, &Point::x);
    const auto [top, bottom] = std::ranges::minmax(points, {}, &Point::y);
    const double width = right.x - left.x, height = bottom.y - top.y;
    double across = width > 1e-9 ? 1 / width : 0, down = height > 1e-9 ? 1 / height : 0;
    if (across > 0 && down > 0) {
        across = std::min(across, kMostStretch * down);
        down = std::min(down, kMostStretch * across);
    }
    const double x = left.x, y = top.y;
    for (Point& point : points) {
        point = {0.5 + (point.x - x - width / 2) * across, 0.5 + (point.y - y - height / 2) * down};
        point = {std::clamp(point.x, 0.0, 1.0), std::clamp(point.y, 0.0, 1.0)};
    }
}

bool all_apart(std::span<const Point> points, double room) {
    bool all = true;
    Cells(points, room).close_pairs([&](std::uint32_t i, std::uint32_t j) {
        all = all && apart(points[i], points[j]) >= room;
    });
    return all;
}

void spread(std::span<Point> points, double room) {
    expects(points.empty() || room <= 0.5 / std::sqrt(static_cast<double>(points.size())));
    for (int round = 0; round < kRounds; ++round) {
        if (push_apart(points, room)) return;
    }
    if (!all_apart(points, room)) line_up(points);
}

}  // namespace tutti::report
