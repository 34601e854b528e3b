// Messages that may go in one step.
//
// A step moves up to 71 consecutive chunks, and steps are what runtimes limit first. Messages m1 … mk that
// follow each other on one path are a burst if all of them can be moved to the ticks of mk without effect:
// all their data was there when m1 started, no sender's chunk is overwritten before mk has started, and no
// receiver accesses what arrived before mk has arrived. In a burst the order does not matter, so those whose
// chunks are neighbours wherever they are read or written become one transfer, a row. Such a step waits for
// no data that m1 did not wait for, and delays no step that used m1 before mk arrived: a pipeline over chunks
// stays a pipeline.

#include "compile/msccl/passes.hpp"

#include <algorithm>

namespace tutti::compile::msccl {
namespace {

struct Burst {
    std::vector<std::uint32_t> messages{};
    Ticks overwritten{}, used{};  ///< the earliest of all its messages
};

bool joins(const Draft& draft, const Burst& burst, std::uint32_t i) {
    const auto& messages = draft.part.messages;
    const RankMessage& m = messages[i];
    return !burst.messages.empty() && m.arrival >= messages[burst.messages.back()].arrival &&
           draft.facts[i].ready <= messages[burst.messages.front()].start && burst.overwritten > m.start &&
           burst.used >= m.arrival;
}

bool follows(const plan::Address& next, const plan::Address& first, std::int32_t count) {
    return next == first.plus(count);
}

/// Whether the message is the next in the transfer's row.
bool extends(const Draft& draft, const Transfer& t, std::uint32_t i, std::int32_t most) {
    const Facts& f = draft.facts[i];
    return t.count() < most && t.reduces == (draft.part.messages[i].op == Op::Reduce) &&
           follows(f.source, t.source, t.count()) && follows(f.target, t.target, t.count()) &&
           (!t.reduces || follows(f.operand, t.operand, t.count()));
}

Transfer single(const Draft& draft, std::uint32_t i) {
    const RankMessage& m = draft.part.messages[i];
    const Facts& f = draft.facts[i];
    Transfer t{.from = m.from, .to = m.to, .path = m.path, .sent = m.start, .received = m.arrival};
    t.source = f.source;
    t.operand = f.operand;
    t.target = f.target;
    t.reduces = m.op == Op::Reduce;
    t.into_output = f.target.buffer == plan::Buffer::Output;
    t.messages = {i};
    return t;
}

void close(Draft& draft, Burst& burst, std::int32_t most) {
    if (burst.messages.empty()) return;
    const std::uint32_t latest = burst.messages.back();
    const RankMessage& last = draft.part.messages[latest];
    std::ranges::sort(burst.messages, {}, [&](std::uint32_t i) {
        const Facts& f = draft.facts[i];
        return std::tuple(f.source.buffer, f.source.offset, f.target.offset);
    });
    const std::size_t first = draft.transfers.size();
    for (const std::uint32_t i : burst.messages) {
        if (draft.transfers.size() > first && extends(draft, draft.transfers.back(), i, most)) {
            draft.transfers.back().messages.push_back(i);
        } else {
            draft.transfers.push_back(single(draft, i));
        }
        Transfer& t = draft.transfers.back();
        t.sent = last.start;
        t.received = last.arrival;
        t.latest = latest;
        t.row = static_cast<std::uint32_t>(draft.transfers.size() - first);
    }
    burst.messages.clear();
}

}  // namespace

void form_transfers(Draft& draft, std::int32_t most) {
    const auto& messages = draft.part.messages;
    std::vector<Burst> open(draft.part.paths.size());
    draft.transfers.clear();
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        Burst& burst = open[messages[i].path];
        const Facts& f = draft.facts[i];
        if (most == 1 || !joins(draft, burst, i)) {
            close(draft, burst, most);
            burst = {{}, Ticks::max(), Ticks::max()};
        }
        burst.messages.push_back(i);
        burst.overwritten = std::min(burst.overwritten, f.overwritten);
        burst.used = std::min(burst.used, f.used);
    }
    for (Burst& burst : open) close(draft, burst, most);
    std::ranges::sort(draft.transfers, {}, &Transfer::sent_at);
}

}  // namespace tutti::compile::msccl
