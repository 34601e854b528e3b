#include "verify/links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {

LinkLedger::LinkLedger(const Instance& instance, Report& report) : instance_(instance), report_(report) {
    const Topology& topology = instance.topology();
    bookings_.resize(topology.links().size());
    const auto& switches = topology.parts().switches;
    if (std::ranges::any_of(switches, &SwitchRule::cut_through)) last_leg_.resize(topology.links().size());
}

void LinkLedger::book(const Send& send, Ticks beta, std::uint64_t position) {
    Booking& last = bookings_[send.link.index()];
    if (send.start < last.free_at) report_overlap(send.link, send.chunk, send.start, last.position, position);
    const Ticks end = send.start + instance_.busy(send.link, beta);
    if (end >= last.free_at) last = {end, position};
}

void LinkLedger::book(const LegPtr& leg) {
    LegPtr& last = last_leg_[leg->link.index()];
    if (last) {
        // Reported once per pair: here when the overlap shows already, in slow_down() when it shows later.
        if (leg->start < last->start + instance_.busy(last->link, last->rated)) {
            report_overlap(leg->link, leg->chunk, leg->start, last->position, leg->position);
        } else {
            last->next_start = leg->start;
            last->next_position = leg->position;
        }
    }
    last = leg;
    for (const LegPtr& feeder : leg->feeders) slow_down(*feeder, leg->rated);
}

void LinkLedger::slow_down(Leg& leg, Ticks beta) {
    if (beta <= leg.rated) return;
    leg.rated = beta;
    if (leg.next_start < leg.start + instance_.busy(leg.link, leg.rated)) {
        report_overlap(leg.link, leg.chunk, leg.next_start, leg.position, leg.next_position);
        leg.next_start = Ticks::max();
    }
    for (const LegPtr& feeder : leg.feeders) slow_down(*feeder, beta);
}

void LinkLedger::report_overlap(LinkId link, ChunkId chunk, Ticks tick, std::uint64_t earlier,
                                std::uint64_t later) {
    report_.add(Rule::LinkOverlap, [&] {
        Violation v;
        v.message = fmt::format("{} is still busy with send {} when send {} starts on it at tick {}",
                                name_of(instance_.topology(), link), earlier, later, tick.count());
        v.sends = {earlier, later};
        v.tick = tick;
        v.link = link;
        v.chunk = chunk;
        return v;
    });
}

}  // namespace tutti::verify
