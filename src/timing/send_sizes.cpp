#include "timing/send_tasks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::timing {
using plan::SendClock;
using plan::SendProgram;

namespace {

/// The most addresses that one node has before, or must have after.
std::uint64_t largest_buffer(const SendProgram& plan) {
    std::map<std::int32_t, std::set<std::int64_t>> before, after;
    for (const plan::SendChunk& chunk : plan.chunks) {
        for (const std::int32_t node : chunk.pre) before[node].insert(chunk.address);
        for (const std::int32_t node : chunk.post) after[node].insert(chunk.address);
    }
    std::size_t most = 1;
    for (const auto* side : {&before, &after}) {
        for (const auto& [node, addresses] : *side) most = std::max(most, addresses.size());
    }
    return most;
}

}  // namespace

std::uint64_t chunks_of_call(CollectiveKind goal, const SendProgram& plan) {
    std::uint64_t all = 0;
    if (goal == CollectiveKind::AllToAll) {
        // Files may omit what a node sends to itself.
        const auto nodes = static_cast<std::uint64_t>(std::max(plan.nodes, 2));
        const auto travels =
            std::ranges::count_if(plan.chunks, [](const auto& chunk) { return chunk.pre != chunk.post; });
        all = static_cast<std::uint64_t>(travels) / (nodes - 1);
    } else if (goal == CollectiveKind::Custom || goal == CollectiveKind::AllToNext ||
               goal == CollectiveKind::SendRecv) {
        all = largest_buffer(plan);
    } else {
        std::set<std::int64_t> addresses;
        for (const plan::SendChunk& chunk : plan.chunks) addresses.insert(chunk.address);
        all = addresses.size();
    }
    return std::max<std::uint64_t>(all, 1);
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
    if (goal != CollectiveKind::AllGather && goal != CollectiveKind::Broadcast)
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
        const auto holder = goal == CollectiveKind::Broadcast ? static_cast<std::int32_t>(root.value())
                                                              : static_cast<std::int32_t>(chunk % plan.nodes);
        made.chunks.push_back({{holder}, {}, chunk});
    }
    return made;
}

SendProgram sends_of(const plan::EpochSchedule& schedule) {
    std::set<std::int32_t> gpus;
    for (const plan::EpochFlow& flow : schedule.flows) gpus.insert(flow.origin);
    for (const plan::EpochDemand& demand : schedule.demands) gpus.insert({demand.node, demand.origin});
    for (const plan::EpochDemand& demand : schedule.all_gathered.value_or(std::vector<plan::EpochDemand>{}))
        gpus.insert({demand.node, demand.origin});
    std::map<std::int32_t, std::int32_t> number;
    for (const std::int32_t gpu : gpus) number.emplace(gpu, static_cast<std::int32_t>(number.size()));

    SendProgram made;
    made.clock = SendClock::Epochs;
    made.nodes = static_cast<std::int32_t>(gpus.size());
    std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> chunks;
    const auto chunk_of = [&](std::int32_t origin, std::int64_t chunk) -> plan::SendChunk& {
        const auto [entry, is_new] = chunks.try_emplace({origin, chunk}, made.chunks.size());
        if (is_new)
            made.chunks.push_back({{number.at(origin)}, {}, static_cast<std::int64_t>(entry->second)});
        return made.chunks[entry->second];
    };
    for (const auto* demands :
         {&schedule.demands, schedule.all_gathered ? &*schedule.all_gathered : nullptr}) {
        if (demands == nullptr) continue;
        for (const plan::EpochDemand& demand : *demands)
            chunk_of(demand.origin, demand.chunk).post.push_back(number.at(demand.node));
    }
    for (const plan::EpochFlow& flow : schedule.flows) {
        if (flow.hop.volume != plan::kWholeVolume)
            throw InputError("a schedule that splits chunks is not timed");
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
