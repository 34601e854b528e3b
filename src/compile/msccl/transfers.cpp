// Messages that may go in one step.
//
// A step moves up to 71 consecutive chunks, and steps are what runtimes limit first. Messages m1 … mk that
// follow each other on one path become one transfer if their chunks are neighbours wherever they are read or
// written, and if the whole can stand at the ticks of mk without anybody noticing: everything was there when
// m1 started, no sender's chunk is overwritten before mk has started, and no receiver touches what came
// before mk has arrived. Then a step neither waits for data that m1 did not wait for nor keeps anybody
// waiting who used m1 before mk was there: a pipeline over chunks stays a pipeline.

#include "compile/msccl/passes.hpp"

#include <algorithm>

namespace tutti::compile::msccl {
namespace {

bool follows(const plan::Address& next, const plan::Address& first, std::int32_t count) {
    return next.buffer == first.buffer && next.offset == first.offset + count;
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

bool joins(const Draft& draft, const Transfer& t, std::uint32_t i) {
    const RankMessage& m = draft.part.messages[i];
    const Facts& f = draft.facts[i];
    const bool neighbours = follows(f.source, t.source, t.count()) &&
                            follows(f.target, t.target, t.count()) &&
                            (!t.reduces || follows(f.operand, t.operand, t.count()));
    if (!neighbours || t.reduces != (m.op == Op::Reduce) || t.count() == draft.limits.count) return false;
    if (m.arrival < t.received || f.ready > draft.part.messages[t.messages.front()].start) return false;
    return std::ranges::all_of(t.messages, [&](std::uint32_t before) {
        return draft.facts[before].overwritten > m.start && draft.facts[before].used >= m.arrival;
    });
}

}  // namespace

void form_transfers(Draft& draft, bool merge) {
    const auto& messages = draft.part.messages;
    std::vector<std::uint32_t> last(draft.part.paths.size(), kNone);  // transfer, by path
    draft.transfers.clear();
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        std::uint32_t& open = last[messages[i].path];
        if (merge && open != kNone && joins(draft, draft.transfers[open], i)) {
            Transfer& t = draft.transfers[open];
            t.messages.push_back(i);
            t.sent = messages[i].start;
            t.received = messages[i].arrival;
        } else {
            open = static_cast<std::uint32_t>(draft.transfers.size());
            draft.transfers.push_back(single(draft, i));
        }
    }
    std::ranges::stable_sort(draft.transfers, {}, &Transfer::sent);
}

}  // namespace tutti::compile::msccl
