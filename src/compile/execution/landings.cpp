#include "compile/execution/draft.hpp"

// A message is put into its receiver's memory by the sender, who must know that nobody there uses the place
// any more. What is added, and what is only passed on, gets a place of its own in scratch, written once; so
// there is nothing to know, and no signal that says "ready". What replaces a value is put directly where the
// receiver keeps it if the receiver has never touched that place, or if the sender has learnt of the last
// time it did: through the messages themselves, which order memory as signals do. A result of an all-reduce
// comes back to a rank only after that rank's own part has gone out, so nearly always it has. Otherwise the
// message lands in scratch and is copied.
//
// Who has learnt of what is kept as a clock for each rank: how many of each rank's events it knows.

namespace tutti::compile::execution {
namespace {

class UnitLandings {
  public:
    UnitLandings(Draft& draft, const Unit& unit) : draft_(draft), unit_(unit), ranks_(draft.part.ranks) {
        for (const std::uint32_t i : unit.messages) {
            messages_.push_back(draft.part.messages[i]);
            reduces_ = reduces_ || messages_.back().op == Op::Reduce;
        }
        known_.resize(messages_.size());
        events_.assign(ranks_, 0);
        touched_.assign(ranks_, 0);
        at_home_.assign(ranks_, false);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            const auto start = draft.start(rank, unit.first);
            at_home_[rank] = start && start == draft.end(rank, unit.first);
        }
        // Without reductions nothing is ever replaced.
        if (reduces_) clocks_.assign(ranks_, std::vector<std::uint32_t>(ranks_, 0));
    }

    void run() {
        for (const Event& event : events_of(messages_)) {
            const RankMessage& message = messages_[event.message];
            const std::uint32_t rank = event.arrives ? message.to : message.from;
            const std::uint32_t now = ++events_[rank];
            if (event.arrives) {
                land(event.message, message);
                learn(message.to, event.message, now);
            } else {
                if (at_home_[rank]) touched_[rank] = now;
                if (reduces_) {
                    clocks_[rank][rank] = now;
                    known_[event.message] = clocks_[rank];
                }
            }
        }
    }

  private:
    void learn(std::uint32_t rank, std::uint32_t message, std::uint32_t now) {
        if (!reduces_) return;
        for (std::uint32_t other = 0; other < ranks_; ++other) {
            clocks_[rank][other] = std::max(clocks_[rank][other], known_[message][other]);
        }
        clocks_[rank][rank] = now;
    }

    void land(std::uint32_t number, const RankMessage& message) {
        const auto home = draft_.end(message.to, unit_.first);
        const std::uint32_t last = touched_[message.to];
        Landing& landing = draft_.landings[unit_.messages[number]];
        const bool known = last == 0 || (reduces_ && known_[number][message.to] >= last);
        landing.direct = message.op == Op::Copy && home && known && !draft_.shares_places();
        landing.spot = landing.direct ? *home : draft_.fresh(message.to, unit_.count);
        if (!home) return;
        at_home_[message.to] = true;
        touched_[message.to] = events_[message.to];
    }

    Draft& draft_;
    const Unit& unit_;
    std::uint32_t ranks_;
    bool reduces_ = false;
    std::vector<RankMessage> messages_;
    std::vector<std::uint32_t> events_;               ///< of each rank so far
    std::vector<std::uint32_t> touched_;              ///< the last of them that used its home; 0: none
    std::vector<bool> at_home_;                       ///< whether its value lies there
    std::vector<std::vector<std::uint32_t>> clocks_;  ///< per rank
    std::vector<std::vector<std::uint32_t>> known_;   ///< per message: its sender's clock
};

}  // namespace

void choose_landings(Draft& draft) {
    draft.landings.resize(draft.part.messages.size());
    draft.scratch.assign(draft.part.ranks, 0);
    for (const Unit& unit : draft.units) UnitLandings(draft, unit).run();
}

}  // namespace tutti::compile::execution
