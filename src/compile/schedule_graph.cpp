// The instructions of a schedule.
//
// Their order is that of time: at each tick what arrives stands before what is sent, as in the schedule. So
// every edge of the graph leads from an earlier tick to a later one, or within a tick from an arrival to what
// is sent on. A rank's own copies need nothing and stand first.

#include "compile/schedule_graph.hpp"

#include "compile/graph_builder.hpp"
#include "compile/schedule/draft.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::compile {
namespace {

using schedule::Transfer;

std::uint32_t offset_of(const plan::Address& address) { return (*address.offset).value(); }

Instruction own_copy(const OwnCopy& copy) {
    Instruction i{.kind = Instruction::Kind::Local, .source_buffer = plan::Buffer::Input};
    i.target_buffer = plan::Buffer::Output;
    i.rank = i.peer = copy.rank;
    i.source = static_cast<std::uint32_t>(copy.input);
    i.target = static_cast<std::uint32_t>(copy.output);
    i.count = static_cast<std::uint32_t>(copy.count);
    return i;
}

Instruction half_of(const Transfer& t, bool arrives) {
    Instruction i{.kind = arrives ? Instruction::Kind::Receive : Instruction::Kind::Send,
                  .reduces = t.reduces};
    const plan::Address& source = arrives && t.reduces ? t.operand : t.source;
    i.source_buffer = source.buffer;
    i.source = offset_of(source);
    i.target_buffer = t.target.buffer;
    i.target = offset_of(t.target);
    i.rank = arrives ? t.to : t.from;
    i.peer = arrives ? t.from : t.to;
    i.count = static_cast<std::uint32_t>(t.count);
    i.path = t.path;
    return i;
}

/// The transfers in the order of their arrivals.
std::vector<std::uint32_t> by_arrival(const std::vector<Transfer>& transfers) {
    std::vector<std::uint32_t> order(transfers.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return transfers[i].received_at(); });
    return order;
}

}  // namespace

Graph graph_of(const ScheduleMoves& moves, std::int32_t most, bool own_copies) {
    const std::vector<Transfer> transfers = schedule::transfers_of(moves, most);
    const std::vector<std::uint32_t> arrivals = by_arrival(transfers);
    GraphBuilder builder(moves.memory);
    std::size_t reads = 0;
    for (const Transfer& t : transfers) {
        const bool adds_apart = t.reduces && t.operand != t.target;
        reads += (adds_apart ? 2U : 1U) * static_cast<std::size_t>(t.count);
    }
    for (const OwnCopy& copy : moves.copies) reads += own_copies ? static_cast<std::size_t>(copy.count) : 0;
    builder.reserve(2 * transfers.size() + (own_copies ? moves.copies.size() : 0), reads);
    if (own_copies) {
        for (const OwnCopy& copy : moves.copies) builder.append(own_copy(copy), kNoInstruction);
    }
    std::vector<std::uint32_t> send_of(transfers.size()), receive_of(transfers.size());
    std::size_t arrived = 0;
    const auto arrive_until = [&](Ticks tick) {
        for (; arrived < arrivals.size() && transfers[arrivals[arrived]].received <= tick; ++arrived) {
            const std::uint32_t t = arrivals[arrived];
            Instruction i = half_of(transfers[t], true);
            i.match = send_of[t];
            receive_of[t] = builder.append(i, send_of[t]);
        }
    };
    for (std::uint32_t t = 0; t < transfers.size(); ++t) {
        arrive_until(transfers[t].sent);
        send_of[t] = builder.append(half_of(transfers[t], false), kNoInstruction);
    }
    arrive_until(Ticks::max());
    for (std::uint32_t r = 0; r < moves.memory.size(); ++r) {
        for (std::uint32_t c = 0; c < moves.memory[r].outputs; ++c) {
            builder.mark_result(r, plan::Buffer::Output, c);
        }
    }
    Graph graph = builder.take();
    for (std::uint32_t t = 0; t < transfers.size(); ++t) graph.instructions[send_of[t]].match = receive_of[t];
    return graph;
}

}  // namespace tutti::compile
