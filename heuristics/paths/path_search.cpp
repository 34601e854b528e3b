#include "heuristics/paths/path_search.hpp"

#include "heuristics/paths/target_distances.hpp"

#include <algorithm>
#include <limits>

namespace tutti::heuristics {
PathSearch::PathSearch(const HopGraph& graph, const LinkPrices& prices)
    : graph_(graph),
      prices_(prices),
      to_go_(graph.nodes()),
      last_step_(graph.nodes()),
      labels_(graph.nodes()) {
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
    steps_.clear();
    for (const std::uint32_t at : nearest_first) {
        to_go_[at] = std::numeric_limits<double>::max();
        last_step_[at] = kNoStep;
    }
    to_go_[nearest_first.front()] = 0;
    const std::uint32_t farthest = distance[nearest_first.back()];
    for (const std::uint32_t at : nearest_first) {
        const std::uint32_t farther = distance[at] + 1U;
        // No path continues beyond the farthest nodes; on a crossbar, those are all but the target.
        if (farther > farthest) break;
        for (const HopEnd step : graph_.in(NodeId(at))) {
            const std::size_t from = step.node.index();
            if (distance[from] != farther) continue;
            to_go_[from] = std::min(to_go_[from], prices_.price(step.hop, kind) + to_go_[at]);
            steps_.push_back({at, step.hop, last_step_[from]});
            last_step_[from] = static_cast<std::uint32_t>(steps_.size() - 1);
        }
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
        double least = std::numeric_limits<double>::max();
        const Step* best = nullptr;
        for (std::uint32_t s = last_step_[at]; s != kNoStep; s = steps_[s].before) {
            const Step& step = steps_[s];
            const double cost = prices_.price(step.hop, kind) + to_go_[step.to];
            if (best != nullptr && (cost > least || (cost == least && step.hop > best->hop))) continue;
            least = cost;
            best = &step;
        }
        path_.push_back(best->hop);
        at = best->to;
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
