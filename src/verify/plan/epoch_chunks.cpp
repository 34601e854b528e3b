#include "verify/plan/epoch_chunks.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {
namespace {

using plan::EpochDemand;
using plan::EpochFlow;
using plan::EpochHop;
using plan::EpochSchedule;
using plan::PlanNode;

/// Chunks times ranks of an all-gather that are still judged.
constexpr std::size_t kMostDemands = std::size_t{1} << 23U;

}  // namespace

EpochChunks::EpochChunks(const EpochSchedule& schedule) {
    number_nodes(schedule);
    for (const EpochFlow& flow : schedule.flows) {
        EpochChunk& chunk = chunks_[name(flow.origin, flow.chunk)];
        chunk.split = chunk.split || !plan::is_whole(flow.hop.volume);
    }
    for (const EpochDemand& demand : schedule.demands) {
        EpochChunk& chunk = chunks_[name(demand.origin, demand.chunk)];
        chunk.demanded.insert(dense(demand.node));
        for (const auto& path : demand.paths) {
            for (const EpochHop& hop : path) chunk.split = chunk.split || !plan::is_whole(hop.volume);
        }
    }
    for (const EpochDemand& demand : gathered(schedule))
        chunks_[name(demand.origin, demand.chunk)].demanded.insert(dense(demand.node));
}

void EpochChunks::number_nodes(const EpochSchedule& schedule) {
    const std::vector<PlanNode> ranks = ranks_of(schedule);
    std::set<PlanNode> all;
    const auto add_hop = [&](const EpochHop& hop) { all.insert({hop.from, hop.to}); };
    for (const EpochFlow& flow : schedule.flows) add_hop(flow.hop);
    for (const EpochDemand& demand : schedule.demands) {
        for (const auto& path : demand.paths) std::ranges::for_each(path, add_hop);
    }
    all.insert(ranks.begin(), ranks.end());
    numbers_.assign(all.begin(), all.end());
    for (const PlanNode node : ranks) ranks_.push_back(dense(node));
}

PlanNode EpochChunks::dense(PlanNode node) const {
    expects(std::ranges::binary_search(numbers_, node));
    return plan::id_of<PlanNode>(std::ranges::lower_bound(numbers_, node) - numbers_.begin());
}

std::string EpochChunks::words(const EpochChunkName& chunk) const {
    return fmt::format("chunk {} of node {}", chunk.second, number(chunk.first));
}

ChunkShape EpochChunks::shape() const {
    std::vector<plan::SendChunk> chunks;
    const auto rank = [&](PlanNode node) {
        return plan::id_of<PlanNode>(std::ranges::lower_bound(ranks_, node) - ranks_.begin());
    };
    for (const auto& [name, chunk] : chunks_) {
        plan::SendChunk& added = chunks.emplace_back();
        added.address = static_cast<std::int64_t>(chunks.size());
        added.pre = {rank(name.first)};
        for (const PlanNode node : chunk.demanded) added.post.push_back(rank(node));
    }
    return {chunks, static_cast<std::int32_t>(ranks_.size())};
}

bool EpochChunks::demand_all() {
    if (chunks_.size() > kMostDemands / std::max<std::size_t>(1, ranks_.size())) return false;
    for (auto& [name, chunk] : chunks_) {
        chunk.demanded.insert(ranks_.begin(), ranks_.end());
        chunk.demanded.erase(name.first);
    }
    return true;
}

std::string EpochChunks::missing_pair() const {
    std::set<std::pair<PlanNode, PlanNode>> pairs;
    for (const auto& [name, chunk] : chunks_) {
        for (const PlanNode node : chunk.demanded) pairs.emplace(name.first, node);
    }
    for (const PlanNode from : ranks_) {
        for (const PlanNode to : ranks_) {
            if (from == to || pairs.contains({from, to})) continue;
            return fmt::format("node {} demands nothing of node {}", number(to), number(from));
        }
    }
    return "some pairs of nodes have more chunks than others, or a chunk has several receivers";
}

}  // namespace tutti::verify
