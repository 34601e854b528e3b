// Layers in the manner of Sugiyama, but the bottom is given: NPUs in order of rank, because that is how
// people think of them. NPUs that are joined directly (a box of GPUs) form a block drawn by itself; NPUs that
// are not belong to the block of their home switch, the one whose NPUs lie closest together by rank. Blocks
// stand side by side, in several rows where there are many. A switch wants to be above the middle of what it
// joins below; switches of a layer are sorted by that mean (the barycentre heuristic), and placed there
// where all have room, else evenly. A layer of switches that join neighbours (of a box) and others that join
// the whole width (rails) becomes two.

#include "report/layout/layers.hpp"

#include "report/layout/shapes.hpp"
#include "report/layout/stress.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tutti::report {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr double kBetweenBlocks = 0.8, kBetweenLayers = 1.8;

struct Block {
    std::vector<std::uint32_t> nodes;
    std::vector<Point> places;  ///< from (0, 0)
    double width = 0, height = 0;
};

/// Connected NPUs of a box.
std::vector<Point> box_layout(const Graph& graph) {
    if (auto grid = grid_layout(graph)) return *grid;
    if (auto curve = curve_layout(graph)) return *curve;
    return graph.size() <= kMostForStress ? stress_layout(graph) : rows_layout(graph.size());
}

class Layers {
  public:
    Layers(const Graph& graph, std::size_t npus) : graph_(graph), npus_(npus), places_(graph.size()) {
        std::vector<std::uint32_t> sources(npus);
        std::iota(sources.begin(), sources.end(), 0U);
        level_ = graph.distances(sources);
        for (std::size_t i = npus; i < graph.size(); ++i) {
            if (level_[i] < graph.size()) top_ = std::max(top_, level_[i]);
        }
        // An unreachable switch is drawn above all others.
        for (auto& level : level_) level = level == graph.size() ? top_ + 1 : level;
    }

    [[nodiscard]] bool have_up_and_down() const {
        for (std::size_t i = npus_; i < graph_.size(); ++i) {
            for (const std::uint32_t other : graph_.neighbours(i)) {
                if (other >= npus_ && level_[other] == level_[i]) return false;
            }
        }
        return true;
    }

    std::vector<Point> make() {
        place_blocks(blocks());
        double y = 0;
        for (std::uint32_t level = 1; level <= top_ + 1; ++level) {
            std::vector<std::uint32_t> near, wide;
            for (std::size_t i = npus_; i < graph_.size(); ++i) {
                if (level_[i] != level) continue;
                (spans_half(i) ? wide : near).push_back(static_cast<std::uint32_t>(i));
            }
            for (auto& layer : {near, wide}) {
                if (!layer.empty()) y = place_layer(layer, y - kBetweenLayers);
            }
        }
        return places_;
    }

  private:
    /// The level-1 switch whose NPUs lie closest together by rank.
    [[nodiscard]] std::uint32_t home_of(std::size_t npu) const {
        std::uint32_t home = kNone, closest = kNone;
        for (const std::uint32_t other : graph_.neighbours(npu)) {
            if (other < npus_) continue;
            const auto& joined = graph_.neighbours(other);
            const auto end = std::ranges::lower_bound(joined, static_cast<std::uint32_t>(npus_));
            const std::uint32_t span = *(end - 1) - joined.front();
            if (span < closest) closest = span, home = other;
        }
        return home;
    }

    [[nodiscard]] std::vector<Block> blocks() const {
        std::vector<std::uint32_t> all(npus_);
        std::iota(all.begin(), all.end(), 0U);
        std::vector<Block> found;
        std::vector<std::uint32_t> of_home(graph_.size() + 1, kNone);
        const Graph between = graph_.part(all);
        for (auto& nodes : between.components()) {
            if (nodes.size() > 1) {
                Block block{std::move(nodes), {}, 0, 0};
                block.places = box_layout(graph_.part(block.nodes));
                found.push_back(std::move(block));
                continue;
            }
            const std::uint32_t home = home_of(nodes.front());
            std::uint32_t& number = of_home[home == kNone ? graph_.size() : home];
            if (number == kNone) {
                number = static_cast<std::uint32_t>(found.size());
                found.emplace_back();
            }
            found[number].nodes.push_back(nodes.front());
        }
        for (Block& block : found) finish(block, found.size());
        return found;
    }

    /// Gives NPUs without links their rows, and every block its size.
    void finish(Block& block, std::size_t blocks) const {
        if (block.places.empty()) {
            const auto count = static_cast<double>(block.nodes.size());
            const double one_row = 3 * std::sqrt(static_cast<double>(graph_.size()));
            const bool fits =
                (count + kBetweenBlocks) * static_cast<double>(blocks) <= std::max(one_row, 16.0);
            const auto columns = static_cast<std::size_t>(
                fits ? count : std::ceil(std::sqrt(count * (blocks > 1 ? 1.0 : 2.0))));
            for (std::size_t i = 0; i < block.nodes.size(); ++i) {
                block.places.push_back({static_cast<double>(i % columns), static_cast<double>(i / columns)});
            }
        }
        double left = block.places[0].x, top = block.places[0].y;
        for (const Point& place : block.places) left = std::min(left, place.x), top = std::min(top, place.y);
        for (Point& place : block.places) {
            place = {place.x - left, place.y - top};
            block.width = std::max(block.width, place.x);
            block.height = std::max(block.height, place.y);
        }
    }

    /// Side by side from y = 0 downwards, in as many rows as keep the picture from being flat.
    void place_blocks(const std::vector<Block>& blocks) {
        double all = 0, widest = 0;
        for (const Block& block : blocks) {
            all += block.width + 1 + kBetweenBlocks;
            widest = std::max(widest, block.width);
        }
        const double most = std::max({3 * std::sqrt(static_cast<double>(graph_.size())), widest, 16.0});
        const double rows = std::ceil(all / most);
        double x = 0, y = 0, height = 0;
        for (const Block& block : blocks) {
            if (x > 0 && x + block.width > all / rows + 1e-6) {
                x = 0;
                y += height + 1 + kBetweenBlocks;
                height = 0;
            }
            for (std::size_t i = 0; i < block.nodes.size(); ++i) {
                places_[block.nodes[i]] = {x + block.places[i].x, y + block.places[i].y};
            }
            width_ = std::max(width_, x + block.width);
            x += block.width + 1 + kBetweenBlocks;
            height = std::max(height, block.height);
        }
    }

    [[nodiscard]] bool spans_half(std::size_t node) const {
        double left = width_, right = 0;
        for (const std::uint32_t other : graph_.neighbours(node)) {
            if (level_[other] >= level_[node]) continue;
            left = std::min(left, places_[other].x);
            right = std::max(right, places_[other].x);
        }
        return right - left > width_ / 2;
    }

    [[nodiscard]] double preferred(std::uint32_t node) const {
        double sum = 0, count = 0;
        for (const std::uint32_t other : graph_.neighbours(node)) {
            if (level_[other] < level_[node]) sum += places_[other].x, ++count;
        }
        return count > 0 ? sum / count : width_ / 2;
    }

    /// Returns the y of the layer's top row.
    double place_layer(const std::vector<std::uint32_t>& nodes, double y) {
        std::vector<std::pair<double, std::uint32_t>> order;
        for (const std::uint32_t node : nodes) order.emplace_back(preferred(node), node);
        std::ranges::sort(order);
        bool roomy = true;
        for (std::size_t i = 1; i < order.size(); ++i)
            roomy = roomy && order[i].first - order[i - 1].first >= 1;
        const auto count = static_cast<double>(order.size());
        const double width = std::max(width_, 4.0);
        const auto rows = static_cast<std::size_t>(std::ceil(count / (width + 1)));
        for (std::size_t i = 0; i < order.size(); ++i) {
            const double evenly = (static_cast<double>(i) + 0.5) / count * width + (width_ - width) / 2;
            places_[order[i].second] = {roomy ? order[i].first : evenly,
                                        y - (roomy ? 0.0 : static_cast<double>(i % rows))};
        }
        return roomy ? y : y - static_cast<double>(rows - 1);
    }

    const Graph& graph_;
    std::size_t npus_;
    std::vector<Point> places_;
    std::vector<std::uint32_t> level_;
    std::uint32_t top_ = 0;
    double width_ = 0;
};

}  // namespace

std::optional<std::vector<Point>> layered_layout(const Graph& graph, std::size_t npus) {
    Layers layers(graph, npus);
    if (!layers.have_up_and_down()) return std::nullopt;
    return layers.make();
}

}  // namespace tutti::report
