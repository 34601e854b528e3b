#include "timing/send_tasks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::timing {
using plan::PlanNode;
using plan::SendClock;
using plan::SendProgram;

namespace {

/// The most addresses that one node has before (`pre`), or must have after (`post`).
std::uint64_t most_of_a_node(const SendProgram& plan, std::vector<PlanNode> plan::SendChunk::*side) {
    std::map<PlanNode, std::set<std::int64_t>> addresses;
    for (const plan::SendChunk& chunk : plan.chunks) {
        for (const PlanNode node : chunk.*side) addresses[node].insert(chunk.address);
    }
    std::size_t most = 1;
    for (const auto& [node, own] : addresses) most = std::max(most, own.size());
    return most;
}

}  // namespace

std::uint64_t chunks_of_call(CollectiveKind goal, const SendProgram& plan) {
    using enum CollectiveKind;
    const auto nodes = static_cast<std::uint64_t>(std::max(plan.nodes, 2));
    const std::uint64_t before = most_of_a_node(plan, &plan::SendChunk::pre);
    const std::uint64_t after = most_of_a_node(plan, &plan::SendChunk::post);
    switch (goal) {
        // Files may omit what a node has already: the shares of the others give the size.
        case Gather:
            return before * nodes;
        case Scatter:
            return after * nodes;
        case AllToAll: {
            const auto travels =
                std::ranges::count_if(plan.chunks, [](const auto& chunk) { return chunk.pre != chunk.post; });
            return std::max<std::uint64_t>(static_cast<std::uint64_t>(travels) / (nodes - 1), 1);
        }
        case Custom:
        case AllToNext:
        case SendRecv:
            return std::max(before, after);
        default: {
            std::set<std::int64_t> addresses;
            for (const plan::SendChunk& chunk : plan.chunks) addresses.insert(chunk.address);
            return std::max<std::uint64_t>(addresses.size(), 1);
        }
    }
}

std::uint64_t chunks_of_call(const plan::TacosPlan& plan) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(plan.chunks, 1));
}

std::uint64_t chunks_of_call(const plan::ForestCollPlan& plan) {
    std::uint64_t all = 0;
    for (const plan::ForestTree& tree : plan.trees)
        all += static_cast<std::uint64_t>(std::max<std::int64_t>(tree.chunks, 0));
    return std::max<std::uint64_t>(all, 1);
}

SendProgram sends_of(const plan::TacosPlan& plan, CollectiveKind goal, Rank root) {
    const plan::QueueStart start{goal, PlanNode(root.index())};
    if (!start.known())
        throw InputError(
            "queues do not say where chunks start; they are timed as an allgather or a broadcast");
    SendProgram made;
    made.clock = SendClock::Queues;
    made.nodes = plan.nodes;
    std::set<std::int64_t> sent;  // a file may count far more chunks than it sends
    for (std::size_t i = 0; i < plan.links.size(); ++i) {
        plan::NodeSend send;
        send.src = plan.links[i].src;
        send.dst = plan.links[i].dst;
        send.list = send.lane = static_cast<std::int32_t>(i);
        for (const std::int64_t chunk : plan.links[i].queue) {
            send.address = chunk;
            sent.insert(chunk);
            made.sends.push_back(send);
            ++*send.position;
        }
    }
    for (const std::int64_t chunk : sent) {
        made.chunks.push_back({{start.holder(chunk, plan.nodes)}, {}, chunk});
    }
    return made;
}

SendProgram sends_of(const plan::EpochSchedule& schedule) {
    std::map<PlanNode, PlanNode> number;
    for (const PlanNode gpu : ranks_of(schedule)) number.emplace(gpu, PlanNode(number.size()));

    SendProgram made;
    made.clock = SendClock::Epochs;
    made.nodes = static_cast<std::int32_t>(number.size());
    std::map<std::pair<PlanNode, std::int64_t>, std::size_t> chunks;
    const auto chunk_of = [&](PlanNode origin, std::int64_t chunk) -> plan::SendChunk& {
        const auto [entry, is_new] = chunks.try_emplace({origin, chunk}, made.chunks.size());
        if (is_new)
            made.chunks.push_back({{number.at(origin)}, {}, static_cast<std::int64_t>(entry->second)});
        return made.chunks[entry->second];
    };
    for (const auto demands : {std::span(schedule.demands), gathered(schedule)}) {
        for (const plan::EpochDemand& demand : demands)
            chunk_of(demand.origin, demand.chunk).post.push_back(number.at(demand.node));
    }
    for (const plan::EpochFlow& flow : schedule.flows) {
        if (!plan::is_whole(flow.hop.volume)) throw InputError("a schedule that splits chunks is not timed");
        const auto from = number.find(flow.hop.from), to = number.find(flow.hop.to);
        if (from == number.end() || to == number.end())
            throw InputError("a schedule whose flows begin or end at switches is not timed");
        plan::NodeSend send;
        send.address = chunk_of(flow.origin, flow.chunk).address;
        send.src = from->second;
        send.dst = to->second;
        send.position = static_cast<std::int32_t>(made.sends.size());
        send.when = flow.hop.epoch;
        made.sends.push_back(send);
    }
    for (plan::SendChunk& chunk : made.chunks) {
        std::ranges::sort(chunk.post);
        const auto repeated = std::ranges::unique(chunk.post);
        chunk.post.erase(repeated.begin(), repeated.end());
    }
    return made;
}

}  // namespace tutti::timing
