#include "heuristics/link_calendar.hpp"

#include <algorithm>

namespace tutti::heuristics {

Ticks LinkCalendar::earliest(LinkId link, Ticks ready, Ticks length) const {
    const auto& busy = busy_[link.index()];
    auto next = std::ranges::upper_bound(busy, ready, {}, &Interval::end);
    while (next != busy.end() && next->begin < ready + length) {
        ready = std::max(ready, next->end);
        ++next;
    }
    return ready;
}

Ticks LinkCalendar::earliest(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks ready) const {
    graph.leg_times(hop, chunk, times_);
    if (times_.size() == 1) return earliest(times_[0].link, ready, times_[0].busy);
    while (true) {
        // Push the start until no leg pushes it further.
        for (std::size_t agreed = 0, leg = 0; agreed < times_.size(); leg = (leg + 1) % times_.size()) {
            const LegTime& time = times_[leg];
            const Ticks start = earliest(time.link, ready + time.offset, time.busy) - time.offset;
            agreed = start == ready ? agreed + 1 : 1;
            ready = start;
        }
        if (!meets_itself(chunk, ready)) return ready;
        ready += Ticks(1);
    }
}

bool LinkCalendar::meets_itself(ChunkId chunk, Ticks start) const {
    for (std::size_t i = 1; i < times_.size(); ++i) {
        if (passages_.contains({times_[i].from, chunk, start + times_[i].offset})) return true;
    }
    return false;
}

void LinkCalendar::book(const HopGraph& graph, HopId hop, ChunkId chunk, Ticks start) {
    graph.leg_times(hop, chunk, times_);
    for (std::size_t i = 0; i < times_.size(); ++i) {
        const auto& [link, from, offset, busy] = times_[i];
        book(link, start + offset, start + offset + busy);
        if (i > 0) passages_.insert({from, chunk, start + offset});
    }
}

void LinkCalendar::release(LinkId link, Ticks begin, Ticks end) {
    auto& busy = busy_[link.index()];
    const auto held = std::ranges::upper_bound(busy, begin, {}, &Interval::end);
    const Interval whole = *held;
    if (whole.begin == begin && whole.end == end) {
        busy.erase(held);
    } else if (whole.begin == begin) {
        held->begin = end;
    } else {
        held->end = begin;
        if (whole.end != end) busy.insert(std::next(held), {end, whole.end});
    }
}

void LinkCalendar::book(LinkId link, Ticks begin, Ticks end) {
    horizon_ = std::max(horizon_, end);
    auto& busy = busy_[link.index()];
    const auto next = std::ranges::lower_bound(busy, begin, {}, &Interval::begin);
    const bool joins_next = next != busy.end() && next->begin == end;
    const bool joins_last = next != busy.begin() && std::prev(next)->end == begin;
    if (joins_last && joins_next) {
        std::prev(next)->end = next->end;
        busy.erase(next);
    } else if (joins_last) {
        std::prev(next)->end = end;
    } else if (joins_next) {
        next->begin = begin;
    } else {
        busy.insert(next, {begin, end});
    }
}

}  // namespace tutti::heuristics
