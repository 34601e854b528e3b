#include "verify/fast_path.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

/// How many sends ahead memory is prefetched.
constexpr std::size_t kAhead = 16;

}  // namespace

FastPath::FastPath(const Instance& instance, const Tables& tables, Holdings& plain, ReductionCounts& counted,
                   const ExactSums& exact, const CutThroughSwitches& cut_through, LinkLedger& links)
    : instance_(instance),
      tables_(tables),
      plain_(plain),
      counted_(counted),
      exact_(exact),
      cut_through_(cut_through),
      links_(links),
      in_flight_(tables.lanes()),
      passages_(tables.lanes(), tables.passes_at_once()),
      finish_(instance.collectives().size() > 1 ? instance.collectives().size() : 0) {
    for (const Collective& collective : instance.collectives()) {
        last_release_ = std::max(last_release_, last_release(collective));
        is_restricted_ = is_restricted_ || collective.forwarding != Forwarding::Any;
    }
}

FastPath::Taken FastPath::take(std::span<const Send> sends, std::size_t begin, const Positions& positions,
                               Ticks now) {
    return tables_.alike() ? take_some<true>(sends, begin, positions, now)
                           : take_some<false>(sends, begin, positions, now);
}

template <bool Alike>
void FastPath::prefetch_source(const Send& send) const {
    if (send.link.index() >= tables_.links() || send.chunk.index() >= tables_.chunks()) return;
    const Hop& hop = hop_of<Alike>(send.chunk, send.link);
    if (!Alike && tables_.chunk(send.chunk).reduction) {
        counted_.prefetch(hop.src, slot_of<Alike>(send.chunk));
    } else {
        plain_.prefetch(hop.src, slot_of<Alike>(send.chunk));
    }
}

/// V7 and V8.
bool FastPath::may_move(const Send& send, const Hop& hop) const {
    if (send.start < instance_.release(send.chunk)) return false;
    // A late holder of a plain chunk does not hold it yet, as its bit says; a late contribution is counted
    // already, so its NPU's sends are judged exactly.
    if (tables_.chunk(send.chunk).reduction && send.start < instance_.last_release(send.chunk)) {
        const auto holders = instance_.demand(send.chunk).holders;
        if (std::ranges::binary_search(holders, hop.src) &&
            send.start < instance_.release(send.chunk, hop.src))
            return false;
    }
    const CollectiveId collective = tables_.chunk(send.chunk).collective;
    return instance_.may_carry(hop.src, collective) && instance_.may_carry(hop.dst, collective);
}

inline bool FastPath::leave(const Hop& hop, std::uint32_t slot) {
    if (hop.kind == Hop::Stored || !plain_.counts(hop.src)) return plain_.holds(hop.src, slot);
    return plain_.take_copy(hop.src, slot);
}

/// A send into or out of a cut-through switch.
bool FastPath::pass(const Send& send, const Hop& hop, std::uint32_t slot, std::uint64_t position) {
    const Ticks due = send.start + instance_.alpha(send.link);
    if (hop.enters_cut_through &&
        (passages_.has_met(hop.dst, send.chunk, due) || cut_through_.is_due(hop.dst, send.chunk, due)))
        return false;
    if (hop.leaves_cut_through && cut_through_.is_due(hop.src, send.chunk, send.start)) return false;
    const bool leaves = hop.leaves_cut_through ? passages_.take(hop.src, send.chunk, send.start).has_value()
                                               : leave(hop, slot);
    if (!leaves) return false;
    if (hop.enters_cut_through) {
        passages_.enter({hop.dst, send.chunk, due, send.start, position, send.link}, hop.lane);
    } else {
        in_flight_.push(hop.lane, {send.chunk, send.link, send.start, position});
    }
    return true;
}

template <bool Alike>
FastPath::Taken FastPath::take_some(std::span<const Send> sends, std::size_t begin,
                                    const Positions& positions, Ticks now) {
    const bool all_may_move = now >= last_release_ && !is_restricted_;
    const auto bookings = links_.bookings();
    std::uint32_t lane = 0;
    Ticks transit;
    for (std::size_t i = begin; i < sends.size(); ++i) {
        if (i + kAhead < sends.size()) prefetch_source<Alike>(sends[i + kAhead]);
        const Send& send = sends[i];
        if (send.start != now) return {i, Why::OtherTick};
        if (send.link.index() >= tables_.links() || send.chunk.index() >= tables_.chunks())
            return {i, Why::Stranger};
        const Hop& hop = hop_of<Alike>(send.chunk, send.link);
        const bool reduction = !Alike && tables_.chunk(send.chunk).reduction;
        if (reduction && exact_.is_open(send.chunk)) return {i, Why::Exact};
        if (bookings[send.link.index()].free_at > now) return {i, Why::Suspect};
        if (!all_may_move && !may_move(send, hop)) return {i, Why::Suspect};
        const std::uint64_t position = positions(i);
        if (hop.may_wait && (reduction || send.op == Op::Copy) &&
            !is_due(hop.src, send.chunk, now, reduction)) {
            waiting_.push_back({send, position});
        } else if (reduction) {
            if (hop.kind == Hop::Special || !counted_.leave(send, hop, position)) return {i, Why::Uncounted};
        } else {
            if (send.op != Op::Copy || hop.kind == Hop::Special) return {i, Why::Suspect};
            const std::uint32_t slot = slot_of<Alike>(send.chunk);
            if (hop.kind == Hop::Passing) {
                if (!pass(send, hop, slot, position)) return {i, Why::Suspect};
            } else {
                if (!leave(hop, slot)) return {i, Why::Suspect};
                in_flight_.push(hop.lane, {send.chunk, send.link, now, position});
            }
        }
        bookings[send.link.index()] = {now + hop.busy, position};
        if (hop.lane != lane || i == begin) {
            lane = hop.lane;
            transit = tables_.lanes()[lane];
            makespan_ = std::max(makespan_, now + transit);
        }
        if (!finish_.empty()) {
            Ticks& finish = finish_[tables_.chunk(send.chunk).collective.index()];
            finish = std::max(finish, now + transit);
        }
    }
    return {sends.size(), Why::Done};
}

bool FastPath::is_due(NodeId at, ChunkId chunk, Ticks now, bool reduction) const {
    return reduction ? counted_.is_due(at, chunk, now) : passages_.contains(at, chunk, now);
}

std::span<const NumberedSend> FastPath::settle() {
    for (std::size_t before = waiting_.size() + 1; waiting_.size() < before;) {
        before = waiting_.size();
        std::erase_if(waiting_, [&](const NumberedSend& numbered) {
            const auto& [send, position] = numbered;
            const ChunkFacts& chunk = tables_.chunk(send.chunk);
            const Hop& hop = hop_of<false>(send.chunk, send.link);
            return is_due(hop.src, send.chunk, send.start, chunk.reduction) &&
                   (chunk.reduction ? counted_.leave(send, hop, position)
                                    : pass(send, hop, chunk.slot, position));
        });
    }
    return waiting_;
}

void FastPath::launch(const NumberedSend& numbered, const Hop& hop) {
    in_flight_.push(hop.lane,
                    {numbered.send.chunk, numbered.send.link, numbered.send.start, numbered.position});
}

template <bool Alike>
void FastPath::arrive_some(std::span<const Flight> flights) {
    for (std::size_t i = 0; i < flights.size(); ++i) {
        if (i + kAhead < flights.size()) {
            const Flight& later = flights[i + kAhead];
            plain_.prefetch(hop_of<Alike>(later.chunk, later.link).dst, slot_of<Alike>(later.chunk));
        }
        const Hop& hop = hop_of<Alike>(flights[i].chunk, flights[i].link);
        const std::uint32_t slot = slot_of<Alike>(flights[i].chunk);
        if (hop.kind == Hop::Stored || !plain_.counts(hop.dst)) {
            plain_.put(hop.dst, slot);
        } else {
            plain_.put_copy(hop.dst, slot);
        }
    }
}

void FastPath::arrive_until(Ticks tick) {
    in_flight_.arrive_until(tick, [&](std::span<const Flight> flights, Ticks) {
        tables_.alike() ? arrive_some<true>(flights) : arrive_some<false>(flights);
    });
}

void FastPath::arrive_elsewhere(Ticks tick, std::vector<Arrival>& arrivals) {
    const Value data = singleton(1, 0);
    in_flight_.arrive_until(tick, [&](std::span<const Flight> flights, Ticks transit) {
        for (const Flight& flight : flights) {
            arrivals.push_back({flight.start + transit,
                                {{flight.chunk, flight.link, flight.start, Op::Copy}, flight.position},
                                data});
        }
    });
}

void FastPath::free_links(std::span<const NumberedSend> sends) {
    for (const NumberedSend& numbered : sends) links_.bookings()[numbered.send.link.index()] = {};
}

void FastPath::undo(Ticks now, std::vector<NumberedSend>& sends) {
    const std::size_t before = sends.size();
    const auto take_back = [&](const auto& sent) {
        sends.push_back({{sent.chunk, sent.link, sent.start, Op::Copy}, sent.position});
        const Hop& hop = hop_of<false>(sent.chunk, sent.link);
        if (plain_.counts(hop.src)) plain_.put_copy(hop.src, slot_of<false>(sent.chunk));
    };
    in_flight_.undo(now, take_back);
    passages_.undo(now, std::nullopt, take_back);
    counted_.undo(now, std::nullopt, sends);
    sends.insert(sends.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    free_links(std::span(sends).subspan(before));
}

void FastPath::undo(Ticks now, ChunkId reduction, std::vector<NumberedSend>& sends) {
    const std::size_t before = sends.size();
    counted_.undo(now, reduction, sends);
    std::erase_if(waiting_, [&](const NumberedSend& numbered) {
        if (numbered.send.chunk != reduction) return false;
        sends.push_back(numbered);
        return true;
    });
    free_links(std::span(sends).subspan(before));
}

}  // namespace tutti::verify
