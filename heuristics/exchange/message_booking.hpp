#pragma once

#include "heuristics/exchange/message_graph.hpp"
#include "heuristics/link_calendar.hpp"

namespace tutti::heuristics {

/// Where a message may go: the hop over which it arrives first.
struct MessageSlot {
    HopId hop;
    Ticks start, arrival;
};

/// The hop between two NPUs over which the chunk arrives first, if it starts at `ready` or later.
/// Precondition: there is a hop.
[[nodiscard]] inline MessageSlot earliest_slot(const MessageGraph& graph, const LinkCalendar& calendar,
                                               NodeId from, NodeId to, ChunkId chunk, Ticks ready) {
    MessageSlot best{{}, Ticks(0), Ticks::max()};
    for (const HopId hop : graph.between(from, to)) {
        const Ticks transit = graph.transit(hop, chunk);
        if (best.arrival - transit <= ready) continue;  // it cannot be earlier
        const Ticks start = calendar.earliest(graph.hops(), hop, chunk, ready);
        if (start + transit < best.arrival) best = {hop, start, start + transit};
    }
    return best;
}

}  // namespace tutti::heuristics
