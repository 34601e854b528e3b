// The addresses of chunks.
//
// A rank reads a chunk at its current place and writes it at its home. The current place is the rank's input
// as long as nothing has arrived, and the home from then on. The home is where the result must be, if the
// chunk is one of the rank's results, and a slot of scratch otherwise; the input is never written. So the
// program is right out of place whatever the order. In place, input and result of the *same* chunk are one
// place for every collective but the all-to-all, and there the first write replaces exactly what is no longer
// read: all reads of the input come before, which the dependencies enforce (compile/step_writer). An
// all-to-all's result aliases another chunk, and may replace it too early; the verifier detects that.
//
// A result that nothing arrived at is the rank's own input, and is copied.
//
// One sweep over the events in order of time finds the addresses and, for later passes, who wrote what a
// message carries, when, and when its sender and its receiver next touch the chunk.

#include "compile/schedule_graph.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace tutti::compile {
namespace {

using plan::Address;
using plan::Buffer;

std::uint64_t key(std::uint32_t rank, std::uint32_t chunk) { return (std::uint64_t{rank} << 32) | chunk; }

Address at(Buffer buffer, std::int64_t offset) { return {buffer, plan::id_of<plan::ChunkOffset>(offset)}; }

/// What a rank knows of a chunk as time goes by.
struct Holding {
    std::uint32_t writer = 0;  ///< the message that arrived last
    Ticks since{-1};
    Address home{};
    std::vector<std::uint32_t> sent{};  ///< since the last write
    bool written = false;
    bool touched = false;  ///< since the last write
};

class Sweep {
  public:
    Sweep(const Places& places, bool results_last, ScheduleMoves& moves)
        : places_(places), results_last_(results_last), moves_(moves), messages_(moves.part.messages) {
        moves_.facts.resize(messages_.size());
        for (std::uint32_t r = 0; r < places.ranks(); ++r) {
            moves_.memory.push_back({static_cast<std::uint32_t>(places.input_chunks(r)),
                                     static_cast<std::uint32_t>(places.output_chunks(r)), 0});
        }
        give_homes();
        for (const Event& event : events_of(messages_)) {
            event.arrives ? arrive(event.message) : leave(event.message);
        }
    }

  private:
    /// Scratch in the order of chunks, so that neighbours can go in one step.
    void give_homes() {
        std::vector<std::uint64_t> homeless;
        for (const RankMessage& m : messages_) {
            Holding& holding = holdings_[key(m.to, m.chunk)];
            const auto output = results_last_ ? std::nullopt : places_.output(m.to, m.chunk);
            if (output) {
                holding.home = at(Buffer::Output, *output);
            } else {
                homeless.push_back(key(m.to, m.chunk));
            }
        }
        std::ranges::sort(homeless);
        const auto last = std::ranges::unique(homeless);
        homeless.erase(last.begin(), last.end());
        for (const std::uint64_t place : homeless) {
            holdings_[place].home = at(Buffer::Scratch, moves_.memory[place >> 32].scratch++);
        }
    }

    [[nodiscard]] Address current(std::uint32_t rank, std::uint32_t chunk, const Holding& holding) const {
        return holding.written ? holding.home : at(Buffer::Input, places_.input(rank, chunk).value());
    }

    void touch(Holding& holding, Ticks tick) {
        if (!holding.touched && holding.written) moves_.facts[holding.writer].used = tick;
        holding.touched = true;
    }

    void leave(std::uint32_t i) {
        const RankMessage& m = messages_[i];
        Holding& holding = holdings_[key(m.from, m.chunk)];
        MessageFacts& facts = moves_.facts[i];
        facts.source = current(m.from, m.chunk, holding);
        facts.ready = holding.since;
        facts.overwritten = facts.used = Ticks::max();
        holding.sent.push_back(i);
        touch(holding, m.start);
    }

    void arrive(std::uint32_t i) {
        const RankMessage& m = messages_[i];
        Holding& holding = holdings_[key(m.to, m.chunk)];
        MessageFacts& facts = moves_.facts[i];
        if (m.op == Op::Reduce) facts.operand = current(m.to, m.chunk, holding);
        facts.target = holding.home;
        // Whatever stands before this arrival must be over at the tick before.
        touch(holding, m.arrival - Ticks(1));
        for (const std::uint32_t sent : holding.sent) moves_.facts[sent].overwritten = m.arrival;
        holding.sent.clear();
        holding.written = true;
        holding.touched = false;
        holding.writer = i;
        holding.since = m.arrival;
    }

    const Places& places_;
    bool results_last_;
    ScheduleMoves& moves_;
    const std::vector<RankMessage>& messages_;
    std::unordered_map<std::uint64_t, Holding> holdings_;
};

/// Results that nothing arrived at.
std::vector<OwnCopy> own_copies(const Part& part, const Places& places) {
    std::unordered_map<std::uint64_t, bool> written;
    for (const RankMessage& m : part.messages) written[key(m.to, m.chunk)] = true;
    std::vector<OwnCopy> copies;
    const auto add = [&](std::uint32_t rank, std::int64_t input, std::int64_t output) {
        copies.push_back({rank, static_cast<std::int32_t>(input), static_cast<std::int32_t>(output), 1});
    };
    for (std::uint32_t c = 0; c < places.chunks(); ++c) {
        for (const NodeId holder : places.demand(c).holders) {
            const std::uint32_t rank = places.rank_of(holder);
            const auto output = places.output(rank, c);
            if (output && !written.contains(key(rank, c))) add(rank, places.input(rank, c).value(), *output);
        }
    }
    for (const OwnBlock& own : places.own_blocks()) {
        for (std::int64_t k = 0; k < own.count; ++k) add(own.rank, own.input + k, own.output + k);
    }
    return copies;
}

/// Neighbours in one step.
std::vector<OwnCopy> joined(std::vector<OwnCopy> copies, std::int32_t most) {
    std::ranges::sort(copies, {}, [](const OwnCopy& c) { return std::tuple(c.rank, c.output, c.input); });
    std::vector<OwnCopy> runs;
    for (const OwnCopy& copy : copies) {
        const bool goes_on = !runs.empty() && runs.back().rank == copy.rank && runs.back().count < most &&
                             runs.back().output + runs.back().count == copy.output &&
                             runs.back().input + runs.back().count == copy.input;
        if (goes_on) {
            ++runs.back().count;
        } else {
            runs.push_back(copy);
        }
    }
    return runs;
}

}  // namespace

ScheduleMoves moves_of(const Part& part, const Places& places, bool results_last, std::int32_t most_copied) {
    ScheduleMoves moves{part};
    [[maybe_unused]] const Sweep sweep(places, results_last, moves);
    moves.copies = joined(own_copies(part, places), most_copied);
    return moves;
}

}  // namespace tutti::compile
