#include "heuristics/link_calendar.hpp"

#include "core/expects.hpp"
#include "core/rng.hpp"

#include <algorithm>
#include <utility>

namespace tutti::heuristics {

Ticks LinkCalendar::earliest(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks ready) const {
    if (const auto link = graph.only_link(hop)) {
        const Instance& instance = graph.instance();
        return earliest(*link, ready, instance.busy(*link, instance.beta(*link, chunk)));
    }
    graph.leg_times(hop, chunk, times_);
    return earliest(times_, chunk, ready);
}

namespace {

/// When the chunk leaves the switch that the leg comes from; in reversed time the end of the leg's booking.
Ticks passage(const LegTime& leg, bool backwards) { return backwards ? leg.offset + leg.busy : leg.offset; }

}  // namespace

Ticks LinkCalendar::earliest(std::span<const LegTime> legs, ChunkId chunk, Ticks ready,
                             bool backwards) const {
    while (true) {
        // Delay the start until all legs find their links free.
        for (std::size_t agreed = 0, leg = 0; agreed < legs.size(); leg = (leg + 1) % legs.size()) {
            const LegTime& time = legs[leg];
            const Ticks start = earliest(time.link, ready + time.offset, time.busy) - time.offset;
            agreed = start == ready ? agreed + 1 : 1;
            ready = start;
        }
        if (!meets_itself(legs, chunk, ready, backwards)) return ready;
        ready += Ticks(1);
    }
}

bool LinkCalendar::meets_itself(std::span<const LegTime> legs, ChunkId chunk, Ticks start,
                                bool backwards) const {
    for (std::size_t i = 1; i < legs.size(); ++i) {
        if (passages_.contains(legs[i].from, chunk, start + passage(legs[i], backwards))) return true;
    }
    return false;
}

void LinkCalendar::book(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks start) {
    if (const auto link = graph.only_link(hop)) {
        const Instance& instance = graph.instance();
        return book(*link, start, start + instance.busy(*link, instance.beta(*link, chunk)));
    }
    graph.leg_times(hop, chunk, times_);
    book(times_, chunk, start);
}

void LinkCalendar::book(std::span<const LegTime> legs, ChunkId chunk, Ticks start, bool backwards) {
    for (std::size_t i = 0; i < legs.size(); ++i) {
        const auto& [link, from, offset, busy] = legs[i];
        book(link, start + offset, start + offset + busy);
        if (i > 0) passages_.insert(from, chunk, start + passage(legs[i], backwards));
    }
}

void LinkCalendar::book(LinkId link, Ticks begin, Ticks end) {
    horizon_ = std::max(horizon_, end);
    busy_[link.index()].book(begin, end);
}

std::size_t LinkCalendar::Passages::place(const Passage& passage) const {
    Rng mix((std::uint64_t{passage.at.value()} << 32 | passage.chunk.value()) +
            static_cast<std::uint64_t>(passage.when.count()) * 0x9E3779B97F4A7C15ULL);
    expects(count_ < places_.size());
    const std::size_t mask = places_.size() - 1;
    std::size_t i = mix.next() & mask;
    while (places_[i].when >= Ticks(0) && places_[i] != passage) i = (i + 1) & mask;
    return i;
}

bool LinkCalendar::Passages::contains(NodeId at, ChunkId chunk, Ticks when) const {
    return !places_.empty() && places_[place({at, chunk, when})].when >= Ticks(0);
}

void LinkCalendar::Passages::insert(NodeId at, ChunkId chunk, Ticks when) {
    if (2 * (count_ + 1) > places_.size()) {
        const auto old =
            std::exchange(places_, std::vector<Passage>(std::max<std::size_t>(64, 2 * places_.size())));
        for (const Passage& passage : old) {
            if (passage.when >= Ticks(0)) places_[place(passage)] = passage;
        }
    }
    Passage& empty = places_[place({at, chunk, when})];
    count_ += empty.when < Ticks(0) ? 1U : 0U;
    empty = {at, chunk, when};
}

}  // namespace tutti::heuristics
