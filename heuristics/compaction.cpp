#include "heuristics/compaction.hpp"

#include <algorithm>
#include <unordered_map>

namespace tutti::heuristics {
namespace {

struct Delivery {
    Ticks before, after;  ///< the arrival in the given schedule, and in the compacted one
};

}  // namespace

Ticks makespan_of(const std::vector<Move>& moves) {
    Ticks last;
    for (const Move& move : moves) last = std::max(last, move.arrival());
    return last;
}

std::vector<Move> retimed(std::vector<Move> moves) {
    if (moves.empty()) return moves;
    const Instance& instance = moves.front().graph->instance();
    std::ranges::stable_sort(moves, {}, [](const Move& m) { return m.transfer.start; });

    LinkCalendar calendar(instance.topology().links().size());
    std::unordered_map<std::uint64_t, std::vector<Delivery>> deliveries;
    const auto at = [](NodeId node, ChunkId chunk) {
        return (std::uint64_t{node.value()} << 32) | chunk.value();
    };
    for (Move& move : moves) {
        auto& [hop, chunk, start] = move.transfer;
        const Hop ends = move.graph->hop(hop);
        Ticks ready = instance.release(chunk);
        // A send reads the sum of all that had arrived; it must still do so.
        for (const Delivery& delivery : deliveries[at(ends.from, chunk)]) {
            if (delivery.before <= start) ready = std::max(ready, delivery.after);
        }
        const Ticks before = move.arrival();
        start = calendar.earliest(*move.graph, hop, chunk, ready);
        calendar.book(*move.graph, hop, chunk, start);
        deliveries[at(ends.to, chunk)].push_back({before, move.arrival()});
    }
    return moves;
}

std::vector<Move> compacted(const std::vector<Move>& moves) {
    // Through rigid hops a transfer may fall behind one that now fills the gap before it.
    auto result = retimed(moves);
    return makespan_of(result) <= makespan_of(moves) ? result : moves;
}

}  // namespace tutti::heuristics
