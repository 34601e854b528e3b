#include "verify/plan/execution_moves.hpp"

#include "plan/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tutti::verify {
namespace {

using plan::ChannelType;
using plan::Operand;
using plan::OperandRole;
using plan::Operation;
using plan::OperationType;

/// A hundred times the executor's limit; all pairs are compared.
constexpr std::size_t kMostOperands = 1024;
/// Ranges of all moves together: 8 bytes each. Groups of a switch have one for every rank.
constexpr std::size_t kMostRanges = std::size_t{1} << 24U;

}  // namespace

void ExecutionMoves::add(const Operation& op) {
    if (too_large_ || !operands_fit(op)) return;
    const std::size_t first_move = program_.moves.size();
    for (const plan::OperandGroup& group : operand_groups(op)) add_move(op, group);
    if (shape_of(op.type).pairwise && op.channel_type == ChannelType::Port) check_port_pairs(first_move);
}

/// Number and kinds of the operands, and the channels that they need.
bool ExecutionMoves::operands_fit(const Operation& op) {
    const plan::OperationShape& shape = shape_of(op);
    const std::uint64_t before = names_.violations().count();
    std::size_t least = 1;
    if (shape.second_destination == OperandRole::Packets) least = 2;
    if (std::max(op.src.size(), op.dst.size()) > kMostOperands) {
        names_.complain("operands", fmt::format("more than {} operands", kMostOperands));
    }
    if (op.src.empty() || op.dst.size() < least) {
        names_.complain("operands", fmt::format("{} sources and {} destinations are too few", op.src.size(),
                                                op.dst.size()));
    }
    if (shape.pairwise && op.src.size() != op.dst.size()) {
        names_.complain("operands",
                        fmt::format("{} sources for {} destinations", op.src.size(), op.dst.size()));
    }
    bool remote = false;
    const auto check = [&](const Operand& operand, OperandRole role, const char* what, std::size_t i) {
        remote = remote || kind_of(role) == Operand::Kind::Remote;
        if (role == OperandRole::None || operand.kind != kind_of(role)) {
            names_.complain("operands", fmt::format("{} {} is of a kind that {} does not take", what, i,
                                                    name_of(op.type)));
        }
    };
    for (std::size_t i = 0; i < op.src.size(); ++i) check(op.src[i], shape.source(i), "source", i);
    for (std::size_t i = 0; i < op.dst.size(); ++i) check(op.dst[i], shape.destination(i), "destination", i);
    if (op.slice && (op.slice->parts < 1 || op.slice->part >= op.slice->parts)) {
        names_.complain("tbg", fmt::format("part {} of {} thread blocks", op.slice->part, op.slice->parts));
    }
    if (remote) check_channel_type(op);
    return names_.violations().count() == before;
}

void ExecutionMoves::check_channel_type(const Operation& op) {
    const bool port_possible = op.type == OperationType::Put || op.type == OperationType::PutPackets ||
                               op.type == OperationType::ReadPutPackets || signals(op.type);
    const bool memory_possible = !signals(op.type);
    const auto type = op.channel_type;
    if (!type || *type == ChannelType::Switch || (*type == ChannelType::Port && !port_possible) ||
        (*type == ChannelType::Memory && !memory_possible)) {
        return names_.complain("channel", type ? fmt::format("impossible on a {} channel", name_of(*type))
                                               : std::string("channel_type is missing"));
    }
    if (*type != ChannelType::Port) return;
    if (op.channels.size() != op.dst.size()) {
        return names_.complain(
            "channel", fmt::format("{} channels for {} destinations", op.channels.size(), op.dst.size()));
    }
    for (std::size_t i = 0; i < op.channels.size(); ++i) {
        const auto id = names_.channel(ChannelType::Port, op.channels[i]);
        const auto* buffer = id ? names_.remote_buffer(op.dst[i]) : nullptr;
        if (!buffer) continue;
        const Rank peer = names_.wires().channels[static_cast<std::size_t>(ChannelType::Port)][*id].peer;
        if (peer == buffer->rank) continue;
        later_.add("channel",
                   fmt::format("{}: the port channel leads to gpu {}, the remote buffer lies on gpu {}",
                               names_.words(), peer, buffer->rank),
                   names_.place());
    }
}

void ExecutionMoves::add_move(const Operation& op, const plan::OperandGroup& group) {
    const auto& [src, dst, at] = group;
    const std::int64_t size = src.front().size;
    const auto other_size = [&](const Operand& operand) { return operand.size != size; };
    if (std::ranges::any_of(src, other_size) || std::ranges::any_of(dst, other_size)) {
        return names_.complain("size", "its operands differ in size");
    }
    const plan::OperationShape& shape = shape_of(op);
    reads_.clear();
    writes_.clear();
    for (std::size_t i = 0; i < src.size(); ++i) locate(op, src[i], shape.source(at + i), reads_);
    for (std::size_t i = 0; i < dst.size(); ++i) locate(op, dst[i], shape.destination(at + i), writes_);
    const std::int64_t count = slice_of(op, src.front(), places_).count;
    if (count == 0 || reads_.empty() || writes_.empty()) return;
    if (reads_.size() == 1) {
        // Copying a place onto itself has no effect.
        std::erase_if(writes_, [&](const plan::Range& to) {
            return to.memory == reads_[0].memory && to.first == reads_[0].first;
        });
    }
    check_overlap(count);
    if (writes_.empty() && !program_.memories[reads_[0].memory].packets) return;
    const auto far = [&](const plan::Range& range) { return !can_be_packed(range, count); };
    const bool many = std::max(reads_.size(), writes_.size()) > plan::Move::kMostOperands;
    if (many || program_.ranges.size() > kMostRanges || std::ranges::any_of(reads_, far) ||
        std::ranges::any_of(writes_, far)) {
        if (!too_large_)
            names_.complain("too-large", "with this operation the plan is larger than is judged");
        too_large_ = true;
        return;
    }
    push_move(count);
    program_.moves.back().raw_packets = copies_raw_packets(op);
}

void ExecutionMoves::push_move(std::int64_t count) {
    plan::Move move;
    move.count = static_cast<std::uint32_t>(count);
    move.first_read = static_cast<std::uint32_t>(program_.ranges.size());
    move.set_operands(reads_.size(), writes_.size());
    std::ranges::transform(reads_, std::back_inserter(program_.ranges), plan::packed);
    std::ranges::transform(writes_, std::back_inserter(program_.ranges), plan::packed);
    program_.moves.push_back(move);
}

/// The threads of a block do not wait for each other: another thread may read a place before one writes it.
void ExecutionMoves::check_overlap(std::int64_t count) {
    const auto clash = [&](const plan::Range& a, const plan::Range& b) {
        const std::int64_t apart = a.first > b.first ? a.first - b.first : b.first - a.first;
        return a.memory == b.memory && apart != 0 && apart < count;
    };
    for (std::size_t i = 0; i < writes_.size(); ++i) {
        const bool reads =
            std::ranges::any_of(reads_, [&](const auto& read) { return clash(writes_[i], read); });
        const bool writes = std::any_of(writes_.begin(), writes_.begin() + static_cast<std::ptrdiff_t>(i),
                                        [&](const auto& other) { return clash(writes_[i], other); });
        if (reads || writes) return names_.complain("overlap", "its operands overlap in part");
    }
}

/// The pairs of a put on port channels are transferred concurrently.
void ExecutionMoves::check_port_pairs(std::size_t first_move) {
    const auto moves = std::span(program_.moves).subspan(first_move);
    const auto touches = [&](const plan::Range& a, const plan::Move& of_a, const plan::Range& b,
                             const plan::Move& of_b) {
        return a.memory == b.memory && a.first < b.first + of_b.count && b.first < a.first + of_a.count;
    };
    for (const plan::Move& one : moves) {
        for (const plan::Move& other : moves) {
            if (&one == &other) continue;
            for (const plan::Range write : program_.writes_of(one)) {
                const auto hit = [&](const plan::Range& range) { return touches(write, one, range, other); };
                if (std::ranges::any_of(program_.reads_of(other), hit) ||
                    std::ranges::any_of(program_.writes_of(other), hit)) {
                    return names_.complain("overlap", "its transfers overlap each other");
                }
            }
        }
    }
}

/// Appends the ranges of an operand: one, or one per rank of a switch group.
void ExecutionMoves::locate(const Operation& op, const Operand& operand, OperandRole role,
                            std::vector<plan::Range>& to) {
    if (role == OperandRole::None) return;
    const bool packets = is_packets(role);
    switch (kind_of(role)) {
        case Operand::Kind::Local:
            return locate_at(op, operand, names_.gpu(), operand.buffer, packets, to);
        case Operand::Kind::Remote:
            if (const auto* buffer = names_.remote_buffer(operand))
                locate_at(op, operand, buffer->rank, buffer->buffer, packets, to);
            return;
        case Operand::Kind::Switch: {
            const auto id = names_.channel(ChannelType::Switch, operand.id);
            if (!id) return;
            const plan::GroupChannel& channel = names_.wires().groups[*id];
            for (const Rank rank : channel.group->ranks) {
                if (rank.index() >= plan_.gpus.size()) continue;
                locate_at(op, operand, rank, channel.buffer, packets, to);
            }
            return;
        }
    }
}

void ExecutionMoves::locate_at(const Operation& op, const Operand& operand, Rank gpu, plan::Buffer buffer,
                               bool packets, std::vector<plan::Range>& to) {
    if (packets && buffer != plan::Buffer::Scratch) {
        return names_.complain("buffer", fmt::format("packets lie in scratch, not in {}", name_of(buffer)));
    }
    const std::int64_t room = layout_.room(gpu, buffer);
    if (operand.index + operand.size > room) {
        if (!names_.violations().open()) return names_.violations().count_one();
        plan::Place place = names_.place();
        place.buffer = buffer;
        place.offset = plan::ChunkOffset(static_cast<std::size_t>(operand.index));
        names_.violations().add(
            "range",
            fmt::format("{}: chunks {}..{} of the {} buffer of gpu {}, which has {}", names_.words(),
                        operand.index, operand.index + operand.size - 1, name_of(buffer), gpu, room),
            place);
        return;
    }
    const std::int64_t first = slice_of(op, operand, places_).first;
    to.push_back(packets ? layout_.packets_at(gpu, first) : layout_.at(gpu, buffer, first));
}

}  // namespace tutti::verify
