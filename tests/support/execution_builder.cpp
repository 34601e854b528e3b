#include "tests/support/execution_builder.hpp"
#include "tests/support/plan_ids.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace tutti::test {
namespace {

using plan::ChannelType;
using plan::Operand;
using plan::OperationType;

std::vector<std::string> split(std::string text, char by) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, by);) {
        std::erase(part, ' ');
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

plan::Buffer buffer_of(char letter) {
    const auto at = std::string_view("ios").find(letter);
    if (at == std::string_view::npos) throw std::invalid_argument(std::string("no buffer: ") + letter);
    return static_cast<plan::Buffer>(at);
}

template <class IdType>
std::vector<IdType> first_ids(std::size_t count) {
    std::vector<IdType> ids;
    for (std::size_t i = 0; i < count; ++i) ids.emplace_back(i);
    return ids;
}

/// The number of a gpu among the other ones of `gpu`.
std::int32_t peer_number(std::int32_t gpu, std::int32_t peer) { return peer < gpu ? peer : peer - 1; }

Operand operand_of(std::int32_t gpu, std::string text) {
    Operand operand;
    std::int32_t peer = -1;
    if (const auto colon = text.find(':'); colon != std::string::npos) {
        operand.kind = text[0] == '*' ? Operand::Kind::Switch : Operand::Kind::Remote;
        if (text[0] != '*') peer = std::stoi(text.substr(0, colon));
        text = text.substr(colon + 1);
    }
    operand.buffer = buffer_of(text[0]);
    const auto plus = text.find('+');
    operand.index = std::stoll(text.substr(1, plus == std::string::npos ? plus : plus - 1));
    operand.size = plus == std::string::npos ? 1 : std::stoll(text.substr(plus + 1));
    const auto letter = static_cast<std::int32_t>(operand.buffer);
    if (operand.kind == Operand::Kind::Remote)
        operand.id = id<plan::Slot>(peer_number(gpu, peer) * plan::kBuffers + letter);
    if (operand.kind == Operand::Kind::Switch) operand.id = id<plan::Slot>(letter);
    if (operand.kind != Operand::Kind::Local) operand.buffer = plan::Buffer::Input;
    return operand;
}

}  // namespace

ExecutionBuilder::ExecutionBuilder(std::string_view collective, std::int32_t ranks, std::int32_t channels)
    : ranks_(ranks), channels_(channels) {
    plan_.name = "test";
    plan_.collective = collective;
    plan_.in_place = true;
}

ExecutionBuilder& ExecutionBuilder::out_of_place() {
    plan_.in_place = false;
    return *this;
}

ExecutionBuilder& ExecutionBuilder::gpu(std::int64_t input, std::int64_t output, std::int64_t scratch,
                                        std::vector<std::int64_t> semaphores) {
    plan::ExecutionGpu gpu;
    gpu.id = Rank(plan_.gpus.size());
    gpu.input_chunks = input;
    gpu.output_chunks = output;
    gpu.scratch_chunks = scratch;
    gpu.semaphores = std::move(semaphores);
    std::vector<Rank> everybody;
    plan::GpuChannels memory{ChannelType::Memory, {}, {}, {}}, port{ChannelType::Port, {}, {}, {}};
    for (const Rank peer : plan::ranks_below(ranks_)) {
        everybody.push_back(peer);
        if (peer == gpu.id) continue;
        for (std::int32_t i = 0; i < channels_; ++i) memory.peers.push_back(peer);
        for (int buffer = 0; buffer < plan::kBuffers; ++buffer) {
            gpu.remote_buffers.push_back(
                {peer, static_cast<plan::Buffer>(buffer), {ChannelType::Memory, ChannelType::Port}});
        }
    }
    port.peers = memory.peers;
    if (ranks_ > 1) gpu.channels = {memory, port};
    for (int buffer = 0; buffer < plan::kBuffers; ++buffer) {
        gpu.channels.push_back(
            {ChannelType::Switch, {}, static_cast<plan::Buffer>(buffer), {{ranks_, everybody}}});
    }
    plan_.gpus.push_back(std::move(gpu));
    return *this;
}

ExecutionBuilder& ExecutionBuilder::add_block(const std::vector<std::string>& lines) {
    plan::ExecutionGpu& gpu = plan_.gpus.back();
    plan::ExecutionBlock block;
    block.id = plan::BlockId(gpu.blocks.size());
    const auto peers = static_cast<std::size_t>((ranks_ - 1) * channels_);
    for (const ChannelType type : {ChannelType::Memory, ChannelType::Port}) {
        block.channels.push_back({type, first_ids<plan::ChannelId>(peers)});
        block.buffers.push_back({type, first_ids<plan::RemoteBufferId>(gpu.remote_buffers.size())});
    }
    block.channels.push_back({ChannelType::Switch, first_ids<plan::ChannelId>(plan::kBuffers)});
    for (const std::string& line : lines) block.ops.push_back(operation(number(gpu.id), line));
    gpu.blocks.push_back(std::move(block));
    return *this;
}

plan::Operation ExecutionBuilder::operation(std::int32_t gpu, std::string_view line) const {
    std::string text(line);
    plan::Operation op;
    if (const auto part = text.find(" part "); part != std::string::npos) {
        const auto slash = text.find('/', part);
        op.slice = plan::GroupSlice{std::stoi(text.substr(part + 6)), std::stoi(text.substr(slash + 1))};
        text.resize(part);
    }
    const auto space = text.find(' ');
    const std::string name = text.substr(0, space);
    const auto type = plan::operation_type(name == "acquire"   ? "sem_acquire"
                                           : name == "release" ? "sem_release"
                                                               : name);
    if (!type) throw std::invalid_argument("no operation: " + name);
    op.type = *type;
    text = space == std::string::npos ? "" : text.substr(space + 1);
    bool port =
        plan::signals(op.type) && op.type != OperationType::Signal && op.type != OperationType::RelaxedSignal;
    if (text.starts_with("port ")) {
        port = true;
        text = text.substr(5);
    }
    const ChannelType channel = port ? ChannelType::Port : ChannelType::Memory;
    if (op.type == OperationType::Barrier) {
        op.barrier = id<plan::BarrierId>(std::stoi(text));
        op.barrier_blocks = std::stoi(text.substr(text.find(' ') + 1));
        return op;
    }
    if (op.type == OperationType::SemAcquire || op.type == OperationType::SemRelease) {
        for (const std::string& semaphore : split(text, ','))
            op.semaphores.push_back(id<plan::SemaphoreId>(std::stoi(semaphore)));
        return op;
    }
    if (!shape_of(op.type).moves_data()) {
        if (op.type == OperationType::Nop) return op;
        op.channel_type = channel;
        for (const std::string& peer : split(text, ',')) {
            const auto hash = peer.find('#');
            op.channels.push_back(
                id<plan::Slot>(peer_number(gpu, std::stoi(peer)) * channels_ +
                               (hash == std::string::npos ? 0 : std::stoi(peer.substr(hash + 1)))));
        }
        return op;
    }
    const auto arrow = text.find("->");
    for (const std::string& operand : split(text.substr(0, arrow), ','))
        op.src.push_back(operand_of(gpu, operand));
    for (const std::string& operand : split(text.substr(arrow + 2), ',')) {
        op.dst.push_back(operand_of(gpu, operand));
        if (port) op.channels.push_back(id<plan::Slot>(peer_number(gpu, std::stoi(operand)) * channels_));
    }
    const auto is = [](Operand::Kind kind) {
        return [kind](const Operand& operand) { return operand.kind == kind; };
    };
    const auto any = [&](Operand::Kind kind) {
        return std::ranges::any_of(op.src, is(kind)) || std::ranges::any_of(op.dst, is(kind));
    };
    if (any(Operand::Kind::Remote)) op.channel_type = channel;
    if (any(Operand::Kind::Switch)) op.channel_type = ChannelType::Switch;
    if (plan::reduces(op.type)) op.reduce = plan::ReduceOp::Sum;
    return op;
}

}  // namespace tutti::test
