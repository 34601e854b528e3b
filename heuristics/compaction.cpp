// Each transfer is moved to its earliest start: when its chunk is there, in the first gap of its links.
// Transfers are processed in the order of their old starts. Dependencies are taken from the old schedule: a
// send reads the sum of all that had arrived at its source by its start, so it must wait for all of that
// again. A delivery that arrived by the old start of a transfer was started before it, so its new arrival is
// already known: deliveries are processed in the order of their old arrivals, merged with the transfers, and
// one table holds the latest new arrival so far for each node and chunk.
//
// Both orders come from a radix sort; the table is an array where that is not much larger than the moves,
// else a hash table with open addressing. Everything is linear except the search for gaps.

#include "heuristics/compaction.hpp"

#include "core/expects.hpp"
#include "heuristics/releases.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace tutti::heuristics {
namespace {

/// The positions of the times, in order of time; equal ones keep their order. Precondition: none is negative.
std::vector<std::uint32_t> order_of(const std::vector<Ticks>& times) {
    constexpr unsigned kBits = 11;
    constexpr std::size_t kBuckets = std::size_t{1} << kBits;
    expects(std::ranges::all_of(times, [](Ticks time) { return time >= Ticks(0); }));
    std::vector<std::uint32_t> order(times.size()), sorted(times.size());
    std::iota(order.begin(), order.end(), 0U);
    std::uint64_t used = 0;
    for (const Ticks time : times) used |= static_cast<std::uint64_t>(time.count());
    for (unsigned shift = 0; shift < 64 && (used >> shift) != 0; shift += kBits) {
        const auto bucket = [&](std::uint32_t i) {
            return (static_cast<std::uint64_t>(times[i].count()) >> shift) & (kBuckets - 1);
        };
        std::array<std::uint32_t, kBuckets + 1> begin{};
        for (const std::uint32_t i : order) ++begin[bucket(i) + 1];
        for (std::size_t b = 1; b < begin.size(); ++b) begin[b] += begin[b - 1];
        for (const std::uint32_t i : order) sorted[begin[bucket(i)]++] = i;
        order.swap(sorted);
    }
    return order;
}

/// The latest arrival of each chunk at each node.
class Arrivals {
  public:
    Arrivals(std::size_t nodes, std::size_t chunks, std::size_t moves) : chunks_(chunks) {
        dense_ = nodes <= (4 * moves + 4096) / chunks;
        if (dense_) {
            latest_.resize(nodes * chunks);
        } else {
            keys_.assign(std::bit_ceil(2 * moves + 1), kEmpty);
            latest_.resize(keys_.size());
        }
    }
    /// 0 if nothing arrived.
    [[nodiscard]] Ticks at(NodeId node, ChunkId chunk) const { return latest_[place(node, chunk)]; }
    /// Precondition: called at most once for each of the moves.
    void add(NodeId node, ChunkId chunk, Ticks arrival) {
        const std::size_t i = place(node, chunk);
        if (!dense_) keys_[i] = key(node, chunk);
        latest_[i] = std::max(latest_[i], arrival);
    }

  private:
    static constexpr std::uint64_t kEmpty = UINT64_MAX;
    static std::uint64_t key(NodeId node, ChunkId chunk) {
        return std::uint64_t{node.value()} << 32 | chunk.value();
    }
    [[nodiscard]] std::size_t place(NodeId node, ChunkId chunk) const {
        if (dense_) return node.index() * chunks_ + chunk.index();
        const std::uint64_t wanted = key(node, chunk);
        const std::size_t mask = keys_.size() - 1;
        std::size_t i = Rng(wanted).next() & mask;
        while (keys_[i] != kEmpty && keys_[i] != wanted) i = (i + 1) & mask;
        return i;
    }
    std::size_t chunks_;
    bool dense_;
    std::vector<std::uint64_t> keys_;
    std::vector<Ticks> latest_;
};

}  // namespace

Ticks makespan_of(const std::vector<Move>& moves) {
    Ticks last;
    for (const Move& move : moves) last = std::max(last, move.arrival());
    return last;
}

Schedule schedule_of(const Instance& instance, const std::vector<Move>& moves) {
    Schedule schedule{instance.name(), makespan_of(moves), {}};
    const Topology& topology = instance.topology();
    schedule.sends.reserve(moves.size());
    std::vector<LegTime> legs;
    for (const auto& [graph, transfer, op] : moves) {
        const auto link = graph->only_link(transfer.hop);
        if (link && topology.is_npu(topology.link(*link).dst)) {
            schedule.sends.push_back({transfer.chunk, *link, transfer.start, op});
            continue;
        }
        graph->leg_times(transfer.hop, transfer.chunk, legs);
        for (const LegTime& leg : legs) {
            // A switch that does not reduce forwards a contribution unchanged.
            const NodeId to = topology.link(leg.link).dst;
            const bool passes = topology.is_switch(to) && (&leg != &legs.back() || !topology.rule(to).reduce);
            schedule.sends.push_back(
                {transfer.chunk, leg.link, transfer.start + leg.offset, passes ? Op::Copy : op});
        }
    }
    put_in_order(schedule, topology.links().size());
    return schedule;
}

std::vector<Move> retimed(std::vector<Move> moves) {
    if (moves.empty()) return moves;
    const Instance& instance = moves.front().graph->instance();
    std::vector<Ticks> times(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) times[i] = moves[i].transfer.start;
    {
        std::vector<Move> sorted;
        sorted.reserve(moves.size());
        for (const std::uint32_t i : order_of(times)) sorted.push_back(moves[i]);
        moves = std::move(sorted);
    }
    for (std::size_t i = 0; i < moves.size(); ++i) times[i] = moves[i].arrival();
    const auto deliveries = order_of(times);

    LinkCalendar calendar(instance.topology().links().size());
    Arrivals arrivals(instance.topology().nodes(), instance.chunks(), moves.size());
    std::size_t delivered = 0;
    for (Move& move : moves) {
        auto& [hop, chunk, start] = move.transfer;
        for (; delivered < moves.size() && times[deliveries[delivered]] <= start; ++delivered) {
            const Move& earlier = moves[deliveries[delivered]];
            arrivals.add(earlier.graph->hop(earlier.transfer.hop).to, earlier.transfer.chunk,
                         earlier.arrival());
        }
        const NodeId from = move.graph->hop(hop).from;
        const Ticks ready = std::max(release_at(instance, chunk, from), arrivals.at(from, chunk));
        start = calendar.earliest(*move.graph, hop, chunk, ready);
        calendar.book(*move.graph, hop, chunk, start);
    }
    return moves;
}

std::vector<Move> compacted(const std::vector<Move>& moves) {
    // With rigid hops a transfer may be delayed by one that now fills the gap before it.
    auto result = retimed(moves);
    return makespan_of(result) <= makespan_of(moves) ? result : moves;
}

}  // namespace tutti::heuristics
