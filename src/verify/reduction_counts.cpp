// Contributions without sets.
//
// A value of a reduction is a set of contributions; to add two, the verifier must know that they are
// disjoint. Sets of n bits for n chunks at n NPUs are n^3 bits, and each addition costs n of them. But nearly
// all schedules reduce along trees: an NPU adds up what arrives, sends its sum by one `reduce`, and later
// gets the full sum back as a `copy`. There counting is enough.
//
// Call a value *live* if it is the value of an NPU that has not sent it on yet, or travels in a `reduce`. At
// first the live values are the contributions themselves, each at its holder. As long as
//   (a) a `reduce` takes a live value that is not full, which is then no longer its source's to send (spent),
//   (b) a `reduce` arrives at an NPU whose value is live or that has none, and
//   (c) a `copy` takes a full value,
// live values stay pairwise disjoint: (a) moves one, (b) joins two into one. So counts add up exactly, and a
// count of n is the full sum. Once a full sum exists, every other live value is disjoint from it, that is
// empty: no `reduce` is in flight any more, so a `copy` of the full sum can neither race with one (V14) nor
// destroy a live value. Copies of full sums are equal, so they do not race with each other either. No rule is
// broken, then, and nothing has to be reported.
//
// A chunk that breaks (a), (b) or (c) is not wrong yet: all-reduces by exchange (both partners send, then
// add) break (b) at once. It only has to be judged with sets. These are created when needed: a spent value
// never changes, so each NPU stores the link by which it sent its value, and the set of an NPU is that of all
// holders from which these links lead to it, without links whose `reduce` is still in flight. From then on
// the chunk is judged exactly (ExactSums); other chunks are not affected.
//
// One word per NPU and chunk holds all of this:
//   count               live, or nothing if 0; the full sum if it equals the number of contributions
//   kSpent + link       sent on by that link
//   kFull + any of both a full sum came as a copy
// A send costs O(1). Opening a chunk costs O(n * depth of its tree), and a scan of the sends in flight.

#include "verify/reduction_counts.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

constexpr std::uint32_t kFull = std::uint32_t{1} << 31;
constexpr std::uint32_t kSpent = std::uint32_t{1} << 30;
static_assert(kMaxLinks <= kSpent && kMaxNodes < kSpent);

}  // namespace

ReductionCounts::ReductionCounts(const Instance& instance, const Tables& tables, ExactSums& exact)
    : instance_(instance),
      tables_(tables),
      exact_(exact),
      rows_(tables.reductions()),
      full_(tables.reductions()),
      in_flight_(tables.lanes()) {
    for (std::size_t c = 0; c < tables.chunks(); ++c) {
        if (!tables.chunk(ChunkId(c)).reduction) continue;
        full_[tables.chunk(ChunkId(c)).slot] =
            static_cast<std::uint32_t>(instance.demand(ChunkId(c)).holders.size());
    }
}

ReductionCounts::Row& ReductionCounts::row_of(ChunkId chunk, std::uint32_t slot) {
    Row& row = rows_[slot];
    if (!row) {
        row = std::make_unique<std::uint32_t[]>(instance_.topology().npus());
        for (const NodeId holder : instance_.demand(chunk).holders) row[holder.index()] = 1;
    }
    return row;
}

bool ReductionCounts::leave(const Send& send, const Hop& hop, std::uint64_t position) {
    expects(!exact_.is_open(send.chunk));
    const std::uint32_t slot = tables_.chunk(send.chunk).slot;
    std::uint32_t& word = row_of(send.chunk, slot)[hop.src.index()];
    if (send.op == Op::Reduce) {
        if (word == 0 || word >= full_[slot]) return false;
        in_flight_.push(hop.lane, {send.chunk, send.link, send.start, position, word, Op::Reduce});
        word = kSpent | send.link.value();
        return true;
    }
    if (word != full_[slot] && (word & kFull) == 0) return false;
    in_flight_.push(hop.lane, {send.chunk, send.link, send.start, position, 0, Op::Copy});
    return true;
}

void ReductionCounts::arrive_until(Ticks tick, std::vector<Arrival>& arrivals) {
    constexpr std::size_t kAhead = 12;
    in_flight_.arrive_until(tick, [&](std::span<const Flight> flights, Ticks transit) {
        for (std::size_t i = 0; i < flights.size(); ++i) {
            if (i + kAhead < flights.size()) {
                const Flight& later = flights[i + kAhead];
                prefetch(instance_.topology().link(later.link).dst, tables_.chunk(later.chunk).slot);
            }
            const Flight& flight = flights[i];
            const std::uint32_t slot = tables_.chunk(flight.chunk).slot;
            std::uint32_t& word = rows_[slot][instance_.topology().link(flight.link).dst.index()];
            if (flight.op == Op::Copy) {
                word |= kFull;
            } else if (word < kSpent) {
                word += flight.weight;
            } else {
                broken_.emplace_back(flight, flight.start + transit);
            }
        }
    });
    if (broken_.empty()) return;
    std::vector<ChunkId> chunks;
    for (const auto& [flight, due] : broken_) chunks.push_back(flight.chunk);
    open(std::move(chunks), arrivals);
}

void ReductionCounts::undo(Ticks start, std::optional<ChunkId> only, std::vector<NumberedSend>& sends) {
    const auto take_back = [&](const Flight& flight) {
        sends.push_back({{flight.chunk, flight.link, flight.start, flight.op}, flight.position});
        if (flight.op == Op::Copy) return;
        rows_[tables_.chunk(flight.chunk).slot][source_of(flight).index()] = flight.weight;
    };
    if (!only) return in_flight_.undo(start, take_back);
    in_flight_.remove_if([&](const Flight& flight, Ticks) {
        if (flight.start != start || flight.chunk != *only) return false;
        take_back(flight);
        return true;
    });
}

void ReductionCounts::open(std::vector<ChunkId> chunks, std::vector<Arrival>& arrivals) {
    std::ranges::sort(chunks);
    chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
    auto flights = std::exchange(broken_, {});
    in_flight_.remove_if([&](const Flight& flight, Ticks transit) {
        if (!std::ranges::binary_search(chunks, flight.chunk)) return false;
        flights.emplace_back(flight, flight.start + transit);
        return true;
    });
    const auto chunk_of = [](const auto& entry) { return entry.first.chunk; };
    std::ranges::stable_sort(flights, {}, chunk_of);
    for (const ChunkId chunk : chunks) {
        const auto own = std::ranges::equal_range(flights, chunk, {}, chunk_of);
        open(chunk, own, arrivals);
    }
}

void ReductionCounts::open(ChunkId chunk, std::span<const std::pair<Flight, Ticks>> flights,
                           std::vector<Arrival>& arrivals) {
    exact_.open(chunk);
    Row& row = rows_[tables_.chunk(chunk).slot];
    if (!row) return;
    const Topology& topology = instance_.topology();
    const auto holders = instance_.demand(chunk).holders;
    std::vector<bool> on_its_way(topology.npus());
    for (const auto& [flight, due] : flights)
        if (flight.op == Op::Reduce) on_its_way[source_of(flight).index()] = true;

    using Set = boost::intrusive_ptr<Contributions>;
    std::vector<Set> sets(topology.npus());
    for (std::size_t i = 0; i < holders.size(); ++i) {
        for (NodeId npu = holders[i];;) {
            Set& set = sets[npu.index()];
            if (!set) set = new Contributions(holders.size());
            set->bits.set(i);
            const std::uint32_t word = row[npu.index()];
            if ((word & kSpent) == 0 || on_its_way[npu.index()]) break;
            npu = topology.link(LinkId(word & (kSpent - 1))).dst;
        }
    }
    const Set full(new Contributions(holders.size()));
    full->bits.set();
    for (const auto& [flight, due] : flights) {
        arrivals.push_back({due,
                            {{flight.chunk, flight.link, flight.start, flight.op}, flight.position},
                            flight.op == Op::Copy ? full : sets[source_of(flight).index()]});
    }
    for (std::size_t npu = 0; npu < sets.size(); ++npu) {
        if ((row[npu] & kFull) != 0) sets[npu] = full;
        exact_.set(NodeId(npu), chunk, sets[npu]);
    }
    row.reset();
}

bool ReductionCounts::is_complete(ChunkId chunk) const {
    expects(!exact_.is_open(chunk));
    const std::uint32_t slot = tables_.chunk(chunk).slot;
    const Row& row = rows_[slot];
    return row && std::ranges::all_of(instance_.demand(chunk).receivers, [&](NodeId receiver) {
               const std::uint32_t word = row[receiver.index()];
               return word == full_[slot] || (word & kFull) != 0;
           });
}

}  // namespace tutti::verify
