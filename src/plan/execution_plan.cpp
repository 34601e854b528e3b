#include "plan/execution_plan.hpp"

#include <algorithm>
#include <array>

namespace tutti::plan {
namespace {

using enum OperandRole;

/// One row per OperationType: section 2 of docs/mscclpp-json.md.
struct Row {
    std::string_view name;
    OperationShape shape;
};
constexpr OperationShape kNoData{};
constexpr std::array<Row, kOperationTypes> kRows{{
    {"nop", kNoData},
    {"barrier", kNoData},
    {"signal", kNoData},
    {"rlxsignal", kNoData},
    {"wait", kNoData},
    {"rlxwait", kNoData},
    {"flush", kNoData},
    {"sem_release", kNoData},
    {"sem_acquire", kNoData},
    {"copy", {Local, None, Local, None, None, false}},
    {"put", {Local, Local, Remote, Remote, Remote, true}},
    {"pws", {Local, Local, Remote, Remote, Remote, true}},
    {"pwsf", {Local, Local, Remote, Remote, Remote, true}},
    {"get", {Remote, Remote, Local, Local, Local, true}},
    {"re", {Local, Local, Local, None, None, false}},
    {"res", {Local, Local, Local, Remote, Remote, false}},
    {"rre", {Local, Remote, Local, None, None, false}},
    {"rres", {Local, Remote, Local, Remote, Remote, false}},
    {"cpkt", {Local, None, Packets, None, None, false}},
    {"ppkt", {Local, Local, RemotePackets, RemotePackets, RemotePackets, true}},
    {"upkt", {Packets, None, Local, None, None, false}},
    {"rppkt", {Packets, None, RemotePackets, RemotePackets, RemotePackets, false}},
    {"repkt", {Local, Packets, Local, None, None, false}},
    {"respkt", {Local, Packets, Local, RemotePackets, RemotePackets, false}},
    {"recpkt", {Local, Packets, Local, Packets, None, false}},
    {"recspkt", {Local, Packets, Local, Packets, RemotePackets, false}},
    {"gstore", {Local, None, Group, None, None, false}},
    {"gstorepkt", {Packets, None, GroupPackets, None, None, false}},
    {"glre", {Group, None, Local, None, None, false}},
    {"glres", {Group, None, Group, None, None, false}},
    {"pipeline", kNoData},
}};

const Row& row_of(OperationType type) { return kRows[static_cast<std::size_t>(type)]; }

constexpr std::array<std::string_view, kChannelTypes> kChannelNames{"memory", "port", "switch"};
constexpr std::array<std::string_view, 3> kReduceNames{"sum", "min", "max"};

template <typename Enum, std::size_t Size>
std::optional<Enum> found(const std::array<std::string_view, Size>& names, std::string_view name) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) return std::nullopt;
    return static_cast<Enum>(at - names.begin());
}

}  // namespace

std::string_view name_of(ChannelType type) { return kChannelNames[static_cast<std::size_t>(type)]; }
std::optional<ChannelType> channel_type(std::string_view name) {
    return found<ChannelType>(kChannelNames, name);
}

std::string_view name_of(ReduceOp op) { return kReduceNames[static_cast<std::size_t>(op)]; }
std::optional<ReduceOp> reduce_op(std::string_view name) { return found<ReduceOp>(kReduceNames, name); }

std::string_view name_of(OperationType type) { return row_of(type).name; }

std::optional<OperationType> operation_type(std::string_view name) {
    const auto at = std::ranges::find(kRows, name, &Row::name);
    if (at == kRows.end()) return std::nullopt;
    return static_cast<OperationType>(at - kRows.begin());
}

std::vector<std::string_view> operation_names() {
    std::vector<std::string_view> names;
    for (const Row& row : kRows) names.push_back(row.name);
    return names;
}

const OperationShape& shape_of(OperationType type) { return row_of(type).shape; }

const OperationShape& shape_of(const Operation& op) {
    static constexpr OperationShape kCopiesPackets{Packets,       Packets,       RemotePackets,
                                                   RemotePackets, RemotePackets, true};
    return copies_raw_packets(op) ? kCopiesPackets : shape_of(op.type);
}

bool copies_raw_packets(const Operation& op) {
    return op.type == OperationType::PutPackets && op.channel_type == ChannelType::Port;
}

bool signals(OperationType type) {
    return type == OperationType::Signal || type == OperationType::RelaxedSignal ||
           type == OperationType::PutSignal || type == OperationType::PutSignalFlush;
}

bool waits(OperationType type) { return type == OperationType::Wait || type == OperationType::RelaxedWait; }

bool reduces(OperationType type) {
    const OperationShape& shape = shape_of(type);
    return !shape.pairwise && (shape.other_sources != None || shape.first_source == Group);
}

std::vector<OperandGroup> operand_groups(const Operation& op) {
    if (!shape_of(op.type).pairwise) return {{op.src, op.dst, 0}};
    std::vector<OperandGroup> groups;
    for (std::size_t i = 0; i < op.src.size() && i < op.dst.size(); ++i)
        groups.push_back({std::span(op.src).subspan(i, 1), std::span(op.dst).subspan(i, 1), i});
    return groups;
}

std::vector<Rank> peers_of(const ExecutionGpu& gpu, ChannelType type) {
    std::vector<Rank> peers;
    for (const GpuChannels& list : gpu.channels) {
        if (list.type == type) peers.insert(peers.end(), list.peers.begin(), list.peers.end());
    }
    return peers;
}

std::vector<GroupChannel> group_channels(const ExecutionGpu& gpu) {
    std::vector<GroupChannel> channels;
    for (const GpuChannels& list : gpu.channels) {
        if (list.type != ChannelType::Switch) continue;
        for (const SwitchGroup& group : list.groups) channels.push_back({&group, list.buffer});
    }
    return channels;
}

std::size_t operations_of(const ExecutionPlan& plan) {
    std::size_t count = 0;
    for_each_operation(plan, [&](const Operation&) { ++count; });
    return count;
}

}  // namespace tutti::plan
