#pragma once

#include "heuristics/exchange/message_graph.hpp"
#include "heuristics/link_calendar.hpp"

namespace tutti::heuristics {

/// Where a message may go: the hop over which it arrives first.
struct MessageSlot {
    HopId hop;
    Ticks start, arrival;
};

/// The hop between two NPUs over which the chunk arrives first, if it starts at `ready` or later. Among
/// equals it depends on how far apart the two are numbered: where several switches join all NPUs, messages to
/// the next, the second next and so on then take different switches, and none waits for another.
/// Precondition: there is a hop.
[[nodiscard]] inline MessageSlot earliest_slot(const MessageGraph& graph, const LinkCalendar& calendar,
                                               NodeId from, NodeId to, ChunkId chunk, Ticks ready) {
    MessageSlot best{{}, Ticks(0), Ticks::max()};
    const auto hops = graph.between(from, to);
    const std::size_t npus = graph.instance().topology().npus();
    std::size_t turn = (to.index() + npus - from.index() - 1) % npus % hops.size();
    for (std::size_t i = 0; i < hops.size(); ++i, turn = turn + 1 == hops.size() ? 0 : turn + 1) {
        const Ticks transit = graph.transit(hops[turn], chunk);
        if (best.arrival - transit <= ready) continue;  // it cannot be earlier
        const Ticks start = calendar.earliest(graph.hops(), hops[turn], chunk, ready);
        if (start + transit < best.arrival) best = {hops[turn], start, start + transit};
    }
    return best;
}

}  // namespace tutti::heuristics
