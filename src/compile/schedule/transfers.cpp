// Messages that may go in one step.
//
// A step moves up to 71 consecutive chunks, and steps are what runtimes limit first. Messages m1 … mk that
// follow each other on one path are a burst if all of them can be moved to the ticks of mk without effect:
// all their data was there when m1 started, no sender's chunk is overwritten before mk has started, and no
// receiver accesses what arrived before mk has arrived. In a burst the order does not matter, so those whose
// chunks are neighbours wherever they are read or written become one transfer, a row. Such a step waits for
// no data that m1 did not wait for, and delays no step that used m1 before mk arrived: a pipeline over chunks
// stays a pipeline.

#include "compile/schedule/draft.hpp"

#include <algorithm>

namespace tutti::compile::schedule {
namespace {

struct Burst {
    std::vector<std::uint32_t> messages{};
    Ticks overwritten{}, used{};  ///< the earliest of all its messages
};

class Bursts {
  public:
    Bursts(const ScheduleMoves& moves, std::int32_t most)
        : facts_(moves.facts), messages_(moves.part.messages), most_(most) {
        std::vector<Burst> open(moves.part.paths.size());
        for (std::uint32_t i = 0; i < messages_.size(); ++i) {
            Burst& burst = open[messages_[i].path];
            if (most == 1 || !joins(burst, i)) {
                close(burst);
                burst = {{}, Ticks::max(), Ticks::max()};
            }
            burst.messages.push_back(i);
            burst.overwritten = std::min(burst.overwritten, facts_[i].overwritten);
            burst.used = std::min(burst.used, facts_[i].used);
        }
        for (Burst& burst : open) close(burst);
        std::ranges::sort(transfers_, {}, &Transfer::sent_at);
    }
    [[nodiscard]] std::vector<Transfer> take() { return std::move(transfers_); }

  private:
    [[nodiscard]] bool joins(const Burst& burst, std::uint32_t i) const {
        const RankMessage& m = messages_[i];
        return !burst.messages.empty() && m.arrival >= messages_[burst.messages.back()].arrival &&
               facts_[i].ready <= messages_[burst.messages.front()].start && burst.overwritten > m.start &&
               burst.used >= m.arrival;
    }

    /// Whether the message is the next in the transfer's row.
    [[nodiscard]] bool extends(const Transfer& t, std::uint32_t i) const {
        const MessageFacts& f = facts_[i];
        return t.count < most_ && t.reduces == (messages_[i].op == Op::Reduce) &&
               f.source == t.source.plus(t.count) && f.target == t.target.plus(t.count) &&
               (!t.reduces || f.operand == t.operand.plus(t.count));
    }
    [[nodiscard]] Transfer single(std::uint32_t i) const {
        const RankMessage& m = messages_[i];
        const MessageFacts& f = facts_[i];
        Transfer t{.from = m.from, .to = m.to, .path = m.path, .sent = m.start, .received = m.arrival};
        t.source = f.source;
        t.operand = f.operand;
        t.target = f.target;
        t.reduces = m.op == Op::Reduce;
        t.count = 1;
        return t;
    }

    void close(Burst& burst) {
        if (burst.messages.empty()) return;
        const std::uint32_t latest = burst.messages.back();
        const RankMessage& last = messages_[latest];
        std::ranges::sort(burst.messages, {}, [&](std::uint32_t i) {
            const MessageFacts& f = facts_[i];
            return std::tuple(f.source.buffer, f.source.offset, f.target.offset);
        });
        const std::size_t first = transfers_.size();
        for (const std::uint32_t i : burst.messages) {
            if (transfers_.size() > first && extends(transfers_.back(), i)) {
                ++transfers_.back().count;
            } else {
                transfers_.push_back(single(i));
            }
            Transfer& t = transfers_.back();
            t.sent = last.start;
            t.received = last.arrival;
            t.latest = latest;
            t.row = static_cast<std::uint32_t>(transfers_.size() - first);
        }
        burst.messages.clear();
    }

    const std::vector<MessageFacts>& facts_;
    const std::vector<RankMessage>& messages_;
    std::int32_t most_;
    std::vector<Transfer> transfers_;
};

}  // namespace

std::vector<Transfer> transfers_of(const ScheduleMoves& moves, std::int32_t most) {
    return Bursts(moves, most).take();
}

}  // namespace tutti::compile::schedule
