#include "heuristics/compaction.hpp"

#include <algorithm>
#include <unordered_map>

namespace tutti::heuristics {
namespace {

struct Delivery {
    Ticks before, after;  ///< the arrival in the given schedule, and in the compacted one
};

}  // namespace

Ticks makespan_of(const HopGraph& graph, const std::vector<Move>& moves) {
    Ticks last;
    for (const auto& [transfer, op] : moves)
        last = std::max(last, transfer.start + graph.transit(transfer.hop, transfer.chunk));
    return last;
}

std::vector<Move> retimed(const HopGraph& graph, std::vector<Move> moves) {
    const Instance& instance = graph.instance();
    std::ranges::stable_sort(moves, {}, [](const Move& m) { return m.transfer.start; });

    LinkCalendar calendar(instance.topology().links().size());
    std::unordered_map<std::uint64_t, std::vector<Delivery>> deliveries;
    const auto at = [](NodeId node, ChunkId chunk) {
        return (std::uint64_t{node.value()} << 32) | chunk.value();
    };
    for (Move& move : moves) {
        auto& [hop, chunk, start] = move.transfer;
        Ticks ready = instance.release(chunk);
        // A send reads the sum of all that had arrived; it must still do so.
        for (const Delivery& delivery : deliveries[at(graph.hop(hop).from, chunk)]) {
            if (delivery.before <= start) ready = std::max(ready, delivery.after);
        }
        const Ticks earlier = calendar.earliest(graph, hop, chunk, ready);
        calendar.book(graph, hop, chunk, earlier);
        const Ticks transit = graph.transit(hop, chunk);
        deliveries[at(graph.hop(hop).to, chunk)].push_back({start + transit, earlier + transit});
        start = earlier;
    }
    return moves;
}

std::vector<Move> compacted(const HopGraph& graph, const std::vector<Move>& moves) {
    // Through rigid hops a transfer may fall behind one that now fills the gap before it.
    auto result = retimed(graph, moves);
    return makespan_of(graph, result) <= makespan_of(graph, moves) ? result : moves;
}

}  // namespace tutti::heuristics
