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
// Switches that only forward (and may copy) carry such values in messages: an NPU sends its value as a `copy`
// to a switch, and the last send, into an NPU, is the `reduce` or `copy`. A live value then also is one that
// waits at a switch or travels between switches. A switch that copies may send a full sum many times, a live
// value once. So (a), (b) and (c) are about whole messages, and nothing else changes: switches that do not
// reduce break no rule about sums, and which copy leaves is known exactly (counted_queues.cpp). So it is in
// cut-through switches as long as no two sends of a chunk are due in one at the same tick (passages.hpp).
//
// A chunk that breaks (a), (b) or (c) is not wrong yet: all-reduces by exchange (both partners send, then
// add) break (b) at once. It only has to be judged with sets. These are created when needed: a spent value
// never changes, so each NPU stores to which NPU it sent its value, and the set of an NPU is that of all
// holders from which these messages lead to it, without those that are still in flight or at a switch. From
// then on the chunk is judged exactly (ExactSums); other chunks are not affected.
//
// One word per NPU and chunk holds all of this:
//   count               live, or nothing if 0; the full sum if it equals the number of contributions
//   kSpent + NPU        sent on to that NPU
//   kSpent + kUnderWay  sent on, to a switch so far
//   kFull + any of them a full sum came as a copy
// and one per switch and chunk holds the queue there. A send costs O(1). Opening a chunk costs O(n * depth of
// its tree), and a scan of the sends in flight.
// Where holders have different releases, every contribution is counted at its holder from the start, and a
// holder's own sends before its release never come here (FastPath): what it sends later has its own in it.

#include "verify/reduction_counts.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

constexpr std::uint32_t kFull = std::uint32_t{1} << 31;
constexpr std::uint32_t kSpent = std::uint32_t{1} << 30;
constexpr std::uint32_t kUnderWay = kSpent - 1;
constexpr std::uint32_t kLargest = kFull - 1;  ///< weight of a flight
static_assert(kMaxNodes < kUnderWay);

bool has_countable_switches(const Topology& topology) {
    return std::ranges::any_of(topology.parts().switches, only_forwards);
}

}  // namespace

ReductionCounts::ReductionCounts(const Instance& instance, const Tables& tables, ExactSums& exact)
    : instance_(instance),
      tables_(tables),
      exact_(exact),
      npus_(instance.topology().npus()),
      nodes_(has_countable_switches(instance.topology()) ? instance.topology().nodes() : npus_),
      rows_(tables.reductions()),
      full_(tables.reductions()),
      in_flight_(tables.lanes()),
      passages_(tables.lanes(), tables.passes_at_once()) {
    for (std::size_t c = 0; c < tables.chunks(); ++c) {
        if (!tables.chunk(ChunkId(c)).reduction) continue;
        full_[tables.chunk(ChunkId(c)).slot] =
            static_cast<std::uint32_t>(instance.demand(ChunkId(c)).holders.size());
    }
}

ReductionCounts::Row& ReductionCounts::row_of(ChunkId chunk, std::uint32_t slot) {
    Row& row = rows_[slot];
    if (!row) {
        row = std::make_unique<std::uint32_t[]>(nodes_);
        for (const NodeId holder : instance_.demand(chunk).holders) row[holder.index()] = 1;
    }
    return row;
}

bool ReductionCounts::leave(const Send& send, const Hop& hop, std::uint64_t position) {
    expects(!exact_.is_open(send.chunk));
    if (send.op == Op::Reduce && is_switch(hop.dst)) return false;
    const std::uint32_t slot = tables_.chunk(send.chunk).slot;
    Flight flight{send.chunk, send.link, send.start, position, send.op == Op::Reduce};
    const Ticks due = send.start + instance_.alpha(send.link);
    if (hop.enters_cut_through && passages_.has_met(hop.dst, send.chunk, due)) return false;
    const bool leaves = hop.leaves_cut_through ? leave_cut_through(send, hop, slot, flight)
                        : is_switch(hop.src)   ? leave_switch(send, hop, slot, flight)
                                               : leave_npu(send, hop, slot, flight);
    if (!leaves) return false;
    if (hop.enters_cut_through) {
        passages_.enter(
            {hop.dst, send.chunk, due, send.start, position, send.link, flight.origin, flight.weight},
            hop.lane);
    } else {
        in_flight_.push(hop.lane, flight);
    }
    return true;
}

bool ReductionCounts::leave_npu(const Send& send, const Hop& hop, std::uint32_t slot, Flight& flight) {
    std::uint32_t& word = row_of(send.chunk, slot)[hop.src.index()];
    flight.origin = hop.src;
    const bool is_full = word == full_[slot] || (word & kFull) != 0;
    const bool may_be_part = send.op == Op::Reduce || is_switch(hop.dst);
    if (is_full) return send.op == Op::Copy;
    if (!may_be_part || word == 0 || word >= kSpent) return false;
    flight.weight = word & kLargest;
    word = kSpent | (is_switch(hop.dst) ? kUnderWay : hop.dst.value());
    return true;
}

bool ReductionCounts::leave_switch(const Send& send, const Hop& hop, std::uint32_t slot, Flight& flight) {
    Row& row = row_of(send.chunk, slot);
    std::uint32_t& word = row[hop.src.index()];
    const auto leaving = queues_.leave(word, instance_.topology().rule(hop.src).copy, send.link, send.start);
    if (!leaving) return false;
    const bool is_full = leaving->copy.weight == 0;
    if (!is_switch(hop.dst) && is_full != (send.op == Op::Copy)) {
        queues_.take_back(word, *leaving);
        return false;
    }
    flight.origin = leaving->copy.origin;
    flight.weight = leaving->copy.weight & kLargest;
    if (!is_full && !is_switch(hop.dst)) row[flight.origin.index()] = kSpent | hop.dst.value();
    if (left_at_ != send.start) left_.clear();
    left_at_ = send.start;
    left_.push_back({hop.src, send.chunk, *leaving});
    return true;
}

bool ReductionCounts::leave_cut_through(const Send& send, const Hop& hop, std::uint32_t slot,
                                        Flight& flight) {
    const auto passage = passages_.take(hop.src, send.chunk, send.start);
    if (!passage) return false;
    const bool is_full = passage->weight == 0;
    if (!is_switch(hop.dst) && is_full != (send.op == Op::Copy)) {
        passages_.put_back();
        return false;
    }
    flight.origin = passage->origin;
    flight.weight = passage->weight & kLargest;
    if (!is_full && !is_switch(hop.dst))
        row_of(send.chunk, slot)[flight.origin.index()] = kSpent | hop.dst.value();
    return true;
}

void ReductionCounts::arrive_until(Ticks tick, HandedOver& handed) {
    constexpr std::size_t kAhead = 12;
    in_flight_.arrive_until(tick, [&](std::span<const Flight> flights, Ticks transit) {
        for (std::size_t i = 0; i < flights.size(); ++i) {
            if (i + kAhead < flights.size()) {
                const Flight& later = flights[i + kAhead];
                prefetch(instance_.topology().link(later.link).dst, tables_.chunk(later.chunk).slot);
            }
            const Flight& flight = flights[i];
            const std::uint32_t slot = tables_.chunk(flight.chunk).slot;
            const NodeId node = instance_.topology().link(flight.link).dst;
            std::uint32_t& word = rows_[slot][node.index()];
            if (is_switch(node)) {
                queues_.arrive(word, {flight.start + transit, flight.link, flight.origin, flight.weight});
            } else if (flight.op() == Op::Copy) {
                word |= kFull;
            } else if (word < kSpent) {
                word += flight.weight;
            } else {
                broken_.emplace_back(flight, flight.start + transit);
            }
        }
    });
    lost_ = passages_.expired(tick);
    if (broken_.empty() && lost_.empty()) return;
    std::vector<ChunkId> chunks;
    for (const auto& [flight, due] : broken_) chunks.push_back(flight.chunk);
    for (const Passage& passage : lost_) chunks.push_back(passage.chunk);
    open(std::move(chunks), handed);
}

void ReductionCounts::undo(Ticks start, std::optional<ChunkId> only, std::vector<NumberedSend>& sends) {
    take_back_from_switches(start, only);
    const auto restore = [&](ChunkId chunk, LinkId link, std::uint32_t weight) {
        const NodeId from = instance_.topology().link(link).src;
        if (weight > 0 && !is_switch(from)) rows_[tables_.chunk(chunk).slot][from.index()] = weight;
    };
    passages_.undo(start, only, [&](const Passage& passage) {
        sends.push_back({{passage.chunk, passage.link, passage.start, Op::Copy}, passage.position});
        restore(passage.chunk, passage.link, passage.weight);
    });
    const auto take_back = [&](const Flight& flight) {
        sends.push_back({{flight.chunk, flight.link, flight.start, flight.op()}, flight.position});
        restore(flight.chunk, flight.link, flight.weight);
    };
    if (!only) return in_flight_.undo(start, take_back);
    in_flight_.remove_if([&](const Flight& flight, Ticks) {
        if (flight.start != start || flight.chunk != *only) return false;
        take_back(flight);
        return true;
    });
}

void ReductionCounts::take_back_from_switches(Ticks start, std::optional<ChunkId> only) {
    if (left_at_ != start) return;
    const auto is_meant = [&](const Left& left) { return !only || left.chunk == *only; };
    for (auto left = left_.rbegin(); left != left_.rend(); ++left) {
        if (!is_meant(*left)) continue;
        queues_.take_back(rows_[tables_.chunk(left->chunk).slot][left->node.index()], left->leaving);
    }
    std::erase_if(left_, is_meant);
}

void ReductionCounts::open(std::vector<ChunkId> chunks, HandedOver& handed) {
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
        open(chunk, own, handed);
    }
}

/// Where releases differ, an NPU that has sent nothing may be late: ExactSums adds its own when it is time.
bool ReductionCounts::adds_own_later(ChunkId chunk, const Row& row, NodeId npu) const {
    return instance_.is_staggered(chunk) && (row[npu.index()] & kSpent) == 0;
}

/// The values of the NPUs as far as they did not come as full sums.
std::vector<ReductionCounts::Set> ReductionCounts::sets_of(ChunkId chunk, const Row& row,
                                                           std::span<const DueFlight> flights,
                                                           std::span<const Passage> passages) const {
    const auto holders = instance_.demand(chunk).holders;
    std::vector<bool> on_its_way(npus_);
    for (const auto& [flight, due] : flights)
        if (flight.weight > 0) on_its_way[flight.origin.index()] = true;
    for (const Passage& passage : passages)
        if (passage.weight > 0) on_its_way[passage.origin.index()] = true;
    for (std::size_t node = npus_; node < nodes_; ++node) {
        for (const CountedCopy& copy : queues_.waiting(row[node]))
            if (copy.weight > 0) on_its_way[copy.origin.index()] = true;
    }
    std::vector<Set> sets(npus_);
    for (std::size_t i = 0; i < holders.size(); ++i) {
        if (adds_own_later(chunk, row, holders[i])) continue;
        for (NodeId npu = holders[i];;) {
            Set& set = sets[npu.index()];
            if (!set) set = new Contributions(holders.size());
            set->bits.set(i);
            const std::uint32_t word = row[npu.index()];
            if ((word & kSpent) == 0 || on_its_way[npu.index()]) break;
            npu = NodeId(word & kUnderWay);
        }
    }
    return sets;
}

std::vector<Passage> ReductionCounts::extract_passages(ChunkId chunk) {
    std::vector<Passage> passages = passages_.extract(chunk);
    std::ranges::copy_if(lost_, std::back_inserter(passages),
                         [&](const Passage& passage) { return passage.chunk == chunk; });
    return passages;
}

void ReductionCounts::open(ChunkId chunk, std::span<const DueFlight> flights, HandedOver& handed) {
    exact_.open(chunk);
    Row& row = rows_[tables_.chunk(chunk).slot];
    if (!row) return;
    const std::vector<Passage> passages = extract_passages(chunk);
    std::vector<Set> sets = sets_of(chunk, row, flights, passages);
    const Set full(new Contributions(instance_.demand(chunk).holders.size()));
    full->bits.set();
    for (const auto& [flight, due] : flights) {
        handed.arrivals.push_back({due,
                                   {{flight.chunk, flight.link, flight.start, flight.op()}, flight.position},
                                   flight.weight == 0 ? full : sets[flight.origin.index()]});
    }
    for (const Passage& passage : passages)
        handed.passages.emplace_back(passage, passage.weight == 0 ? full : sets[passage.origin.index()]);
    hand_over_queues(chunk, row, sets, full, handed);
    for (std::size_t npu = 0; npu < sets.size(); ++npu) {
        if ((row[npu] & kFull) != 0) sets[npu] = full;
        const bool later = (row[npu] & kFull) == 0 && adds_own_later(chunk, row, NodeId(npu));
        exact_.set(NodeId(npu), chunk, sets[npu], later ? Ticks(-1) : Ticks::max());
    }
    row.reset();
}

void ReductionCounts::hand_over_queues(ChunkId chunk, Row& row, std::span<const Set> sets, const Value& full,
                                       HandedOver& handed) {
    const auto value = [&](const CountedCopy& copy) -> Value {
        return copy.weight == 0 ? full : Value(sets[copy.origin.index()]);
    };
    for (std::size_t node = npus_; node < nodes_; ++node) {
        if (row[node] == 0) continue;
        const auto left = queues_.left(row[node]);
        const auto waiting = queues_.waiting(row[node]);
        if (left || waiting.empty()) {
            handed.copies.push_back(
                {NodeId(node), chunk, left ? value(*left) : nullptr, true, queues_.left_at(row[node])});
        }
        for (const CountedCopy& copy : waiting) handed.copies.push_back({NodeId(node), chunk, value(copy)});
        queues_.close(row[node]);
    }
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
