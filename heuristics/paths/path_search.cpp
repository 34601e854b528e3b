#include "heuristics/paths/path_search.hpp"

#include "heuristics/paths/target_distances.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tutti::heuristics {
namespace {

/// Added to the cost of hops that lead no nearer (first) or nearer (second): avoids an unpredictable branch.
constexpr std::array<double, 2> kBarred{1e300, 0};

}  // namespace

PathSearch::PathSearch(const HopGraph& graph, const LinkPrices& prices)
    : graph_(graph), prices_(prices), to_go_(graph.nodes()), labels_(graph.nodes()) {
    for (std::uint32_t kind = 0; kind < prices.kinds(); ++kind) {
        double least = graph.hops() == 0 ? 0 : prices.penalty(HopId(0), kind);
        for (std::size_t h = 0; h < graph.hops(); ++h)
            least = std::min(least, prices.penalty(HopId(h), kind));
        least_toll_.push_back(least);
    }
}

bool PathSearch::improve(std::uint32_t node, double cost, HopId by, std::uint32_t from) {
    Label& label = labels_[node];
    if (label.search == search_ && label.cost <= cost) return false;
    label = {search_, cost, by, from};
    return true;
}

std::span<const HopId> PathSearch::trace(NodeId target) {
    path_.clear();
    if (labels_[target.index()].search != search_) return path_;
    for (std::uint32_t at = target.value(); labels_[at].from != kSource; at = labels_[at].from) {
        path_.push_back(labels_[at].by);
    }
    std::ranges::reverse(path_);
    return path_;
}

std::span<const HopId> PathSearch::shortest(std::span<const NodeId> sources, NodeId target,
                                            std::uint32_t kind, std::span<const std::uint16_t> distance) {
    ++search_;
    // Layer by layer towards the target; sources join at their layer.
    std::uint32_t depth = 0;
    for (const NodeId source : sources) {
        const std::uint16_t own = distance[source.index()];
        if (own != TargetDistances::kFar) depth = std::max<std::uint32_t>(depth, own);
    }
    layer_.clear();
    for (; depth > 0; --depth) {
        for (const NodeId source : sources) {
            if (distance[source.index()] != depth) continue;
            const bool reached = labels_[source.index()].search == search_;
            labels_[source.index()] = {search_, 0, HopId(), kSource};
            if (!reached) layer_.push_back(source.value());
        }
        next_layer_.clear();
        for (const std::uint32_t at : layer_) {
            const double cost = labels_[at].cost;
            for (const HopEnd step : graph_.out(NodeId(at))) {
                if (distance[step.node.index()] + 1U != depth) continue;
                const bool reached = labels_[step.node.index()].search == search_;
                const bool better =
                    improve(step.node.value(), cost + prices_.price(step.hop, kind), step.hop, at);
                if (better && !reached) next_layer_.push_back(step.node.value());
            }
        }
        std::swap(layer_, next_layer_);
    }
    return trace(target);
}

void PathSearch::survey(std::span<const std::uint32_t> nearest_first, std::uint32_t kind,
                        std::span<const std::uint16_t> distance) {
    to_go_[nearest_first.front()] = 0;
    for (const std::uint32_t at : nearest_first.subspan(1)) {
        const std::uint32_t nearer = distance[at] - 1U;
        double least = std::numeric_limits<double>::max();
        for (const HopEnd step : graph_.out(NodeId(at))) {
            const double cost = prices_.price(step.hop, kind) + to_go_[step.node.index()];
            least = std::min(least, cost + kBarred[distance[step.node.index()] == nearer ? 1 : 0]);
        }
        to_go_[at] = least;
    }
}

std::span<const HopId> PathSearch::follow(std::span<const NodeId> sources, std::uint32_t kind,
                                          std::span<const std::uint16_t> distance) {
    path_.clear();
    std::uint32_t at = kSource;
    for (const NodeId source : sources) {
        if (distance[source.index()] == TargetDistances::kFar) continue;
        if (at == kSource || to_go_[source.index()] < to_go_[at]) at = source.value();
    }
    if (at == kSource) return path_;
    while (distance[at] > 0) {
        const std::uint32_t nearer = distance[at] - 1U;
        double least = std::numeric_limits<double>::max();
        HopEnd best{};
        for (const HopEnd step : graph_.out(NodeId(at))) {
            const double cost = prices_.price(step.hop, kind) + to_go_[step.node.index()] +
                                kBarred[distance[step.node.index()] == nearer ? 1 : 0];
            if (cost >= least) continue;
            least = cost;
            best = step;
        }
        path_.push_back(best.hop);
        at = best.node.value();
    }
    return path_;
}

void PathSearch::price_everywhere(std::span<const NodeId> sources, std::uint32_t kind) {
    ++search_;
    heap_.clear();
    for (const NodeId source : sources) {
        if (improve(source.value(), 0, HopId(), kSource)) heap_.push_back({0, 0, source.value()});
    }
    while (!heap_.empty()) {
        const Entry entry = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
        if (entry.cost > labels_[entry.node].cost) continue;
        for (const HopEnd step : graph_.out(NodeId(entry.node))) {
            const double cost = entry.cost + prices_.price(step.hop, kind);
            if (!improve(step.node.value(), cost, step.hop, entry.node)) continue;
            heap_.push_back({cost, cost, step.node.value()});
            std::push_heap(heap_.begin(), heap_.end());
        }
    }
}

std::span<const HopId> PathSearch::any(std::span<const NodeId> sources, NodeId target, std::uint32_t kind,
                                       std::span<const std::uint16_t> distance) {
    ++search_;
    heap_.clear();
    const double least = least_toll_[kind];
    const auto push = [&](std::uint32_t node, double cost) {
        heap_.push_back({cost + least * distance[node], cost, node});
        std::push_heap(heap_.begin(), heap_.end());
    };
    for (const NodeId source : sources) {
        if (distance[source.index()] == TargetDistances::kFar) continue;
        if (improve(source.value(), 0, HopId(), kSource)) push(source.value(), 0);
    }
    while (!heap_.empty()) {
        const Entry entry = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
        if (entry.node == target.value()) break;
        if (entry.cost > labels_[entry.node].cost) continue;
        for (const HopEnd step : graph_.out(NodeId(entry.node))) {
            if (distance[step.node.index()] == TargetDistances::kFar) continue;
            const double cost = entry.cost + prices_.price(step.hop, kind) + prices_.penalty(step.hop, kind);
            if (improve(step.node.value(), cost, step.hop, entry.node)) push(step.node.value(), cost);
        }
    }
    return trace(target);
}

}  // namespace tutti::heuristics
