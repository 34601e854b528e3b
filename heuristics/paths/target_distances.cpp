#include "heuristics/paths/target_distances.hpp"

#include <algorithm>
#include <map>

namespace tutti::heuristics {

TargetDistances::TargetDistances(const SpreadProblem& problem, std::span<const NodeId> targets)
    : graph_(problem.graph),
      nodes_(graph_.nodes()),
      block_rows_(std::max<std::size_t>(1, kBlockBytes / (nodes_ * 6))),
      row_of_(targets.size()) {
    for (std::size_t n = 0; n < nodes_; ++n) senders_ += graph_.out(NodeId(n)).empty() ? 0U : 1U;
    const Instance& instance = graph_.instance();
    std::map<CollectiveId, std::vector<std::uint32_t>> rows;  // by forwarding rule, then target
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const CollectiveId own = instance.demand(problem.spreads[i].chunk).collective;
        const bool anybody = instance.collective(own).forwarding == Forwarding::Any;
        auto& by_target = rows[anybody ? CollectiveId(UINT32_MAX) : own];
        if (by_target.empty()) by_target.assign(nodes_, UINT32_MAX);
        std::uint32_t& row = by_target[targets[i].index()];
        if (row == UINT32_MAX) {
            row = static_cast<std::uint32_t>(rows_.size());
            rows_.push_back({targets[i], own});
        }
        row_of_[i] = row;
    }
    const std::size_t slots = std::min(rows_.size(), block_rows_);
    distance_.resize(slots * nodes_);
    order_.resize(slots * nodes_);
    reached_.resize(slots);
}

void TargetDistances::fill(std::size_t block) {
    if (filled_ == block) return;
    filled_ = block;
    const std::size_t begin = block * block_rows_;
    const std::size_t end = std::min(begin + block_rows_, rows_.size());
    for (std::size_t r = begin; r < end; ++r) {
        fill_row(rows_[r], r - begin);
    }
}

void TargetDistances::fill_row(const Row& row, std::size_t slot) {
    const auto distance = std::span(distance_).subspan(slot * nodes_, nodes_);
    const auto queue = std::span(order_).subspan(slot * nodes_, nodes_);
    std::ranges::fill(distance, kFar);
    distance[row.target.index()] = 0;
    queue[0] = row.target.value();
    std::uint32_t count = 1;
    // The search ends once all nodes are reached: on a crossbar, after the first one.
    const std::size_t all = senders_ + (graph_.out(row.target).empty() ? 1U : 0U);
    for (std::uint32_t next = 0; next < count && count < all; ++next) {
        const std::uint32_t at = queue[next];
        // A longer distance would not fit; such paths are left to other heuristics.
        if (distance[at] + 1 == kFar) break;
        for (const HopEnd& in : graph_.in(NodeId(at))) {
            const std::size_t from = in.node.index();
            if (distance[from] != kFar || !graph_.instance().may_carry(in.node, row.collective)) continue;
            distance[from] = static_cast<std::uint16_t>(distance[at] + 1);
            queue[count++] = in.node.value();
        }
    }
    reached_[slot] = count;
}

}  // namespace tutti::heuristics
