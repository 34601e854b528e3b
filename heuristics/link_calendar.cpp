#include "heuristics/link_calendar.hpp"

#include "core/expects.hpp"
#include "core/rng.hpp"

#include <algorithm>
#include <utility>

namespace tutti::heuristics {

bool are_copies_alike(const Topology& topology) {
    if (std::ranges::any_of(topology.parts().switches, &SwitchRule::reduce)) return false;
    const auto& links = topology.links();
    return std::ranges::all_of(links, [&](const Link& link) {
        const bool is_between_switches = !topology.is_npu(link.src) && !topology.is_npu(link.dst);
        return link.wire.beta == links.front().wire.beta &&
               link.wire.bandwidth == links.front().wire.bandwidth &&
               !(is_between_switches && link.wire.alpha == Ticks(0));
    });
}

Ticks LinkCalendar::earliest(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks ready,
                             Cargo cargo) const {
    if (const auto link = graph.only_link(hop)) {
        const Instance& instance = graph.instance();
        return earliest(*link, ready, instance.busy(*link, instance.beta(*link, chunk)));
    }
    graph.leg_times(hop, chunk, times_);
    return earliest(times_, chunk, ready, false, cargo);
}

namespace {

/// When the chunk leaves the switch that the leg comes from; in reversed time the end of the leg's booking.
Ticks passage(const LegTime& leg, bool backwards) { return backwards ? leg.offset + leg.busy : leg.offset; }

}  // namespace

Ticks LinkCalendar::earliest(std::span<const LegTime> legs, Ticks ready) const {
    // Delay the start until all legs find their links free.
    for (std::size_t agreed = 0, leg = 0; agreed < legs.size(); leg = (leg + 1) % legs.size()) {
        const LegTime& time = legs[leg];
        const Ticks start = earliest(time.link, ready + time.offset, time.busy) - time.offset;
        agreed = start == ready ? agreed + 1 : 1;
        ready = start;
    }
    return ready;
}

Ticks LinkCalendar::earliest(std::span<const LegTime> legs, ChunkId chunk, Ticks ready, bool backwards,
                             Cargo cargo) const {
    while (true) {
        ready = earliest(legs, ready);
        if (!meets_itself(legs, chunk, ready, backwards, cargo)) return ready;
        ready += Ticks(1);
    }
}

bool LinkCalendar::meets_itself(std::span<const LegTime> legs, ChunkId chunk, Ticks start, bool backwards,
                                Cargo cargo) const {
    for (std::size_t i = 1; i < legs.size(); ++i) {
        const LegTime& leg = legs[i];
        const Passage own{leg.from,         chunk,    start + passage(leg, backwards),
                          legs[i - 1].link, leg.link, cargo};
        if (passages_.confuses(own, leg.alone)) return true;
    }
    return false;
}

void LinkCalendar::book(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks start, Cargo cargo) {
    if (const auto link = graph.only_link(hop)) {
        const Instance& instance = graph.instance();
        return book(*link, start, start + instance.busy(*link, instance.beta(*link, chunk)));
    }
    graph.leg_times(hop, chunk, times_);
    book(times_, chunk, start, false, cargo);
}

void LinkCalendar::book(std::span<const LegTime> legs, ChunkId chunk, Ticks start, bool backwards,
                        Cargo cargo) {
    book(legs, start);
    for (std::size_t i = 1; i < legs.size(); ++i) {
        const LegTime& leg = legs[i];
        passages_.insert(
            {leg.from, chunk, start + passage(leg, backwards), legs[i - 1].link, leg.link, cargo});
    }
}

void LinkCalendar::book(std::span<const LegTime> legs, Ticks start) {
    for (const LegTime& leg : legs) book(leg.link, start + leg.offset, start + leg.offset + leg.busy);
}

void LinkCalendar::book(LinkId link, Ticks begin, Ticks end) {
    horizon_ = std::max(horizon_, end);
    busy_[link.index()].book(begin, end);
}

std::size_t LinkCalendar::Passages::first_place(const Passage& passage) const {
    Rng mix((std::uint64_t{passage.at.value()} << 32 | passage.chunk.value()) +
            static_cast<std::uint64_t>(passage.when.count()) * 0x9E3779B97F4A7C15ULL);
    expects(count_ < places_.size());
    return mix.next() & (places_.size() - 1);
}

bool LinkCalendar::Passages::confuses(const Passage& passage, bool alone) const {
    if (places_.empty()) return false;
    const std::size_t mask = places_.size() - 1;
    for (std::size_t i = first_place(passage); places_[i].when >= Ticks(0); i = (i + 1) & mask) {
        const Passage& other = places_[i];
        if (other.at != passage.at || other.chunk != passage.chunk || other.when != passage.when) continue;
        if (passage.cargo == Cargo::Whole && other.cargo == Cargo::Whole) continue;
        if (alone || (other.inbound < passage.inbound) != (other.onward < passage.onward)) return true;
    }
    return false;
}

void LinkCalendar::Passages::insert(const Passage& passage) {
    if (2 * (count_ + 1) > places_.size()) {
        const auto old =
            std::exchange(places_, std::vector<Passage>(std::max<std::size_t>(64, 2 * places_.size())));
        count_ = 0;
        for (const Passage& kept : old) {
            if (kept.when >= Ticks(0)) insert(kept);
        }
    }
    const std::size_t mask = places_.size() - 1;
    std::size_t i = first_place(passage);
    while (places_[i].when >= Ticks(0)) i = (i + 1) & mask;
    places_[i] = passage;
    ++count_;
}

}  // namespace tutti::heuristics
