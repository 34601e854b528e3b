// Sums and copies by the switch (multimem, NVLink SHARP). A switch channel has the same place of all ranks as
// one operand: reading it gets the sum, storing to it reaches everybody. Each rank has a share of the data;
// of an all-reduce it reads the share's sum through the switch and stores it through the switch, of an
// all-gather it stores its own. A rank's link carries the data once in each direction, whatever the number of
// ranks, where a ring needs it nearly twice for an all-reduce; and there are two meetings instead of 2(n - 1)
// latencies.
//
// At first every rank must know that the others have been called, or it would read what is not there yet: a
// relaxed signal, as no data goes with it. At last that nobody stores to it any more. `blocks` thread blocks
// of a rank have a part of its share, a switch channel and signals of their own; they never meet.
//
// The verbs of chunk programs have no such operands, and plans of MSCCL neither, so this writes the plan as
// it is. Source: the default plans of MSCCL++ (Microsoft, 2025); the instruction is PTX's multimem.

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;
using plan::ChannelType;
using plan::Operand;
using plan::Operation;
using plan::OperationType;

/// What the executor can signal in one operation, and the memory channels of a thread block.
constexpr std::uint32_t kMostSignals = 8, kMostPeers = 16;

/// Signals to all peers of the block, or waits for all of them.
void add_meeting(std::vector<Operation>& ops, OperationType type, std::uint32_t peers) {
    for (std::uint32_t first = 0; first < peers; first += kMostSignals) {
        Operation op{.type = type, .channel_type = ChannelType::Memory};
        for (std::uint32_t peer = first; peer < std::min(first + kMostSignals, peers); ++peer)
            op.channels.emplace_back(peer);
        ops.push_back(std::move(op));
    }
}

/// What is read from a group and stored to one; or, of an all-gather, from the rank's own input.
Operation transfer(Kind kind, bool in_place, std::int64_t own, std::int64_t chunk) {
    Operation op{.channel_type = ChannelType::Switch};
    const bool sums = kind == Kind::AllReduce;
    op.type = sums ? OperationType::GroupReduceStore : OperationType::GroupStore;
    Operand from{.kind = sums ? Operand::Kind::Switch : Operand::Kind::Local, .index = chunk, .size = 1};
    // A block's first switch channel is that of the sources, if there is one.
    Operand to = from;
    to.kind = Operand::Kind::Switch;
    to.id = plan::Slot(sums && !in_place ? 1U : 0U);
    if (!sums) from.index = own;
    if (sums) op.reduce = plan::ReduceOp::Sum;
    op.src = {from};
    op.dst = {to};
    return op;
}

plan::GpuChannels group_of_all(plan::Buffer buffer, std::uint32_t ranks) {
    plan::SwitchGroup all{.chunks = static_cast<std::int32_t>(ranks)};
    for (const Rank rank : plan::ranks_below(ranks)) all.ranks.push_back(rank);
    return {.type = ChannelType::Switch, .buffer = buffer, .groups = {std::move(all)}};
}

plan::ExecutionGpu gpu_of(std::uint32_t rank, const Settings& settings) {
    const std::uint32_t ranks = settings.request.ranks, blocks = settings["blocks"], peers = ranks - 1;
    const Kind kind = settings.request.kind;
    const bool in_place = *settings.request.in_place;
    plan::ExecutionGpu gpu{.id = Rank(rank)};
    gpu.output_chunks = std::int64_t{ranks} * blocks;
    gpu.input_chunks = kind == Kind::AllReduce ? gpu.output_chunks : blocks;
    std::vector<plan::Buffer> groups;
    if (kind == Kind::AllReduce) groups.push_back(plan::Buffer::Input);
    if (kind == Kind::AllGather || !in_place) groups.push_back(plan::Buffer::Output);
    plan::GpuChannels signals{.type = ChannelType::Memory};
    std::vector<plan::GpuChannels> switches;
    for (std::uint32_t b = 0; b < blocks; ++b) {
        plan::ExecutionBlock block{.id = plan::BlockId(b)};
        plan::BlockChannels to_peers{.type = ChannelType::Memory}, to_all{.type = ChannelType::Switch};
        for (std::uint32_t peer = 0; peer < ranks; ++peer) {
            if (peer == rank) continue;
            to_peers.ids.emplace_back(signals.peers.size());
            signals.peers.emplace_back(peer);
        }
        for (const plan::Buffer buffer : groups) {
            to_all.ids.emplace_back(switches.size());
            switches.push_back(group_of_all(buffer, ranks));
        }
        add_meeting(block.ops, OperationType::RelaxedSignal, peers);
        add_meeting(block.ops, OperationType::RelaxedWait, peers);
        block.ops.emplace_back();
        block.ops.push_back(transfer(kind, in_place, b, std::int64_t{rank} * blocks + b));
        block.ops.emplace_back();
        add_meeting(block.ops, OperationType::Signal, peers);
        add_meeting(block.ops, OperationType::Wait, peers);
        block.channels = {std::move(to_peers), std::move(to_all)};
        gpu.blocks.push_back(std::move(block));
    }
    gpu.channels.push_back(std::move(signals));
    std::ranges::move(switches, std::back_inserter(gpu.channels));
    return gpu;
}

plan::ExecutionPlan write_multimem(const Settings& settings) {
    plan::ExecutionPlan plan;
    plan.name = "multimem";
    plan.collective = plan_name_of(settings.request.kind);
    plan.in_place = *settings.request.in_place;
    for (std::uint32_t rank = 0; rank < settings.request.ranks; ++rank)
        plan.gpus.push_back(gpu_of(rank, settings));
    return plan;
}

}  // namespace

Algorithm multimem() {
    return {.name = "multimem",
            .about = "the switch adds and copies (NVLink SHARP): plans of MSCCL++ only",
            .source = "default plans of MSCCL++, Microsoft, 2025",
            .kinds = {Kind::AllReduce, Kind::AllGather},
            .parameters = {{"blocks", "thread blocks of a rank, which share its work", 1, 1, 32}},
            .why_not =
                [](const Settings& settings) {
                    return settings.request.ranks <= kMostPeers + 1
                               ? std::string()
                               : fmt::format("a thread block signals to {} others at most", kMostPeers);
                },
            .chunks = [](const Settings& settings) { return settings["blocks"]; },
            .plan = write_multimem};
}

}  // namespace tutti::lang::library
