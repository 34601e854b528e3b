// Placing messages one by one, each as early as the ones before allow.
//
// Forwards a message through cut-through switches, or through ones with a limited buffer, is rigid: it leaves
// every switch at the first possible tick, and books all its links at once. A plain chunk may wait in
// switches that store without limit; a contribution to a sum never does, because copies of one chunk leave a
// switch in the order of their arrival, and another one could leave in its place. For the same reason the
// calendar never lets one chunk leave a switch twice at one tick. Plain chunks and complete sums may do so
// where all links have the same beta: whichever copy leaves by a link, it is the same data at the same pace.
//
// Backwards the same message is booked in reversed time: what is used `offset` after its start and for `busy`
// is used `transit - offset - busy` after its end. So mirroring is exact: no link is used twice and every
// switch is passed at the right tick, whatever the latencies.

#include "heuristics/levels/message_placer.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::heuristics {
MessagePlacer::MessagePlacer(const Instance& instance, Direction direction)
    : instance_(instance),
      direction_(direction),
      alike_(are_copies_alike(instance.topology())),
      calendar_(instance.topology().links().size()) {}

bool MessagePlacer::may_wait(ChunkId chunk) const { return !instance_.demands().is_reduction(chunk); }

std::size_t MessagePlacer::up_to_buffer(std::span<const LinkId> links) const {
    const Topology& topology = instance_.topology();
    for (std::size_t i = 0; i + 1 < links.size(); ++i) {
        const SwitchRule& rule = topology.rule(topology.link(links[i]).dst);
        if (!rule.cut_through && !rule.buffer) return i + 1;
    }
    return links.size();
}

Ticks MessagePlacer::find_legs(ChunkId chunk, std::span<const LinkId> links) {
    const Ticks transit = path_times(instance_, links, chunk, legs_);
    if (direction_ == Direction::Backwards) {
        for (LegTime& leg : legs_) leg.offset = transit - leg.offset - leg.busy;
    }
    return transit;
}

Ticks MessagePlacer::earliest(ChunkId chunk, std::span<const LinkId> links, Ticks ready, Op op) {
    if (may_wait(chunk)) links = links.first(up_to_buffer(links));
    find_legs(chunk, links);
    return earliest_start(chunk, ready, op);
}

Ticks MessagePlacer::earliest_start(ChunkId chunk, Ticks ready, Op op) const {
    if (may_meet_itself(chunk)) return calendar_.earliest(legs_, ready);
    return calendar_.earliest(legs_, chunk, ready, direction_ == Direction::Backwards, cargo_of(op));
}

Cargo MessagePlacer::cargo_of(Op op) const {
    const bool whole = alike_ && op == Op::Copy && direction_ == Direction::Forwards;
    return whole ? Cargo::Whole : Cargo::Any;
}

void MessagePlacer::book(ChunkId chunk, Ticks start, Op op) {
    if (may_meet_itself(chunk)) return calendar_.book(legs_, start);
    calendar_.book(legs_, chunk, start, direction_ == Direction::Backwards, cargo_of(op));
}

MessagePlacer::Span MessagePlacer::place_rigid(ChunkId chunk, std::span<const LinkId> links, Ticks ready,
                                               Op op) {
    const Ticks transit = find_legs(chunk, links);
    const Ticks start = earliest_start(chunk, ready, op);
    book(chunk, start, op);
    pieces_.push_back({chunk, static_cast<std::uint32_t>(links.size()), start, op});
    links_.insert(links_.end(), links.begin(), links.end());
    makespan_ = std::max(makespan_, start + transit);
    return {start, start + transit};
}

MessagePlacer::Span MessagePlacer::place(ChunkId chunk, std::span<const LinkId> links, Ticks ready, Op op) {
    expects(!links.empty());
    if (!may_wait(chunk)) return place_rigid(chunk, links, ready, op);
    expects(direction_ == Direction::Forwards);
    Span whole{Ticks::max(), ready};
    while (!links.empty()) {
        const std::size_t count = up_to_buffer(links);
        const Span piece = place_rigid(chunk, links.first(count), whole.end, op);
        whole = {std::min(whole.start, piece.start), piece.end};
        links = links.subspan(count);
    }
    return whole;
}

MessagePlacer MessagePlacer::mirrored(Ticks later) const {
    expects(direction_ == Direction::Backwards);
    MessagePlacer result(instance_, Direction::Forwards);
    result.pieces_.reserve(pieces_.size());
    std::size_t first = 0;
    for (const Piece& piece : pieces_) {
        const auto links = std::span(links_).subspan(first, piece.links);
        first += piece.links;
        const Ticks transit = result.find_legs(piece.chunk, links);
        const Ticks start = makespan_ - piece.start - transit + later;
        result.book(piece.chunk, start, Op::Reduce);
        result.pieces_.push_back({piece.chunk, piece.links, start, Op::Reduce});
    }
    result.links_ = links_;
    result.makespan_ = pieces_.empty() ? Ticks(0) : makespan_ + later;
    return result;
}

std::vector<MessagePlacer::Placed> MessagePlacer::messages() const {
    const Topology& topology = instance_.topology();
    std::vector<Placed> all;
    std::size_t first = 0;
    bool goes_on = false;  // the last piece ended in a switch
    for (const Piece& piece : pieces_) {
        const auto links = std::span(links_).subspan(first, piece.links);
        first += piece.links;
        if (!goes_on) all.push_back({piece.chunk, {}, piece.start});
        all.back().links.insert(all.back().links.end(), links.begin(), links.end());
        goes_on = !topology.is_npu(topology.link(links.back()).dst);
    }
    return all;
}

Schedule MessagePlacer::schedule() const {
    expects(direction_ == Direction::Forwards);
    const Topology& topology = instance_.topology();
    Schedule schedule{instance_.name(), makespan_, {}};
    schedule.sends.reserve(links_.size());
    std::vector<LegTime> legs;
    std::size_t first = 0;
    for (const Piece& piece : pieces_) {
        path_times(instance_, std::span(links_).subspan(first, piece.links), piece.chunk, legs);
        first += piece.links;
        for (const LegTime& leg : legs) {
            const Op op = topology.is_npu(topology.link(leg.link).dst) ? piece.op : Op::Copy;
            schedule.sends.push_back({piece.chunk, leg.link, piece.start + leg.offset, op});
        }
    }
    put_in_order(schedule, topology.links().size());
    return schedule;
}

}  // namespace tutti::heuristics
