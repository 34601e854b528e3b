#pragma once

#include "core/instance.hpp"
#include "core/timed_send.hpp"
#include "verify/cut_through_order.hpp"

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti::verify {

/// When links are free again and sends arrive, by the rules of README.md, for drawing schedules. O(1) per
/// send and no memory, except for cut-through switches: there a send is held until its path is complete.
class SendTimes {
  public:
    /// The instance must outlive this.
    explicit SendTimes(const Instance& instance);

    /// Sends in the order of starts_before, with existing chunks and links. Appends those whose times are
    /// known by now; the times of an invalid schedule are meaningless.
    void take(std::span<const Send> sends, std::vector<TimedSend>& out);
    /// There are no more sends: appends the rest.
    void finish(std::vector<TimedSend>& out);

  private:
    /// A send into or out of a cut-through switch.
    struct Leg {
        Send send{};
        std::uint64_t position = 0;
        Ticks pace{};          ///< the largest beta on the way up to and including this link
        Ticks rated{};         ///< the beta that its link is busy for: the pace, and those of legs behind
        std::size_t open = 0;  ///< legs that take it onward, or may still, and are not known themselves
        std::vector<std::size_t> feeders{};
    };
    struct Passage {
        std::vector<std::size_t> legs{};  ///< the lowest link first
        Op op = Op::Copy;
        bool taken = false;
    };
    using Place = std::pair<NodeId, ChunkId>;

    [[nodiscard]] TimedSend timed(const Send& send, Ticks pace, Ticks rated) const;
    [[nodiscard]] bool touches_cut_through(const Send& send) const;
    void end_tick(std::vector<TimedSend>& out);
    [[nodiscard]] std::vector<DueInbound> due_now(const Place& place) const;
    /// `forwards`: what it takes onward (take_in_cut_through_order).
    void take_leg(const NumberedSend& numbered, std::vector<TimedSend>& out, const Forwards& forwards = {});
    void enter(std::size_t leg);
    [[nodiscard]] std::vector<std::size_t> feeders_of(const Send& send, const Forwards& forwards);
    void advance(Ticks tick, std::vector<TimedSend>& out);
    void close(std::size_t leg, std::vector<TimedSend>& out);

    const Instance& instance_;
    const Topology& topology_;
    bool has_cut_through_ = false;
    Ticks now_;
    std::vector<NumberedSend> inbound_,
        onward_;  ///< of this tick: from nodes that store, from those that do not
    std::vector<Leg> legs_;
    std::uint64_t taken_ = 0;
    std::vector<std::size_t> unused_;  ///< places in legs_
    std::map<Ticks, std::map<Place, std::vector<Passage>>> due_;
};

}  // namespace tutti::verify
