// Ring algorithms, for every collective and every network, as a first schedule.
//
// All other heuristics search: for large instances that can take longer than the time limit, and they hold
// all sends. This one decides everything in advance (ring_plan) and only simulates: each chunk is a token
// that is passed from NPU to NPU around a ring, and each link carries what comes first. All chunks move at
// once, so a ring all-gather of n NPUs keeps every NPU's port busy for n - 1 transfers, which is optimal in
// bandwidth, but a chunk needs the latency of half the ring. (Patarasuk and Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", 2009.)
//
// Reductions. One token per chunk collects the contributions: at a holder it is added, and the holder then
// sends on the sum. An NPU that a token passes on a path between two holders may be a holder itself. If its
// contribution is not in the sum yet, it is added then; otherwise the sum replaces what the NPU has. So every
// contribution is added exactly once, whatever the paths.
//
// Invariants: a chunk that is summed up has one token, so a switch never holds two sums of it; links are
// booked in the order in which they are asked for, at the end of their last booking, so bookings never
// overlap; events are processed in order of time, and sends of one time are sorted, so sends come out in
// order. Each hop costs at most two events per link.
//
// Measured (2.1 GHz, one busy core): see README.md.

#include "heuristics/ring/ring.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kSendsAtOnce = 4096;
constexpr std::size_t kMostAddedBits = std::size_t{1} << 33;

}  // namespace

RingSchedule::RingSchedule(const Instance& instance, const Stop& stop)
    : instance_(instance),
      stop_(stop),
      plan_(instance),
      why_none_(plan_.find(stop)),
      free_(instance.topology().links().size()) {
    const std::size_t npus = instance.topology().npus();
    if (why_none_.empty() && plan_.passes_npus()) {
        if (instance.chunks() > kMostAddedBits / npus) {
            why_none_ = "there are too many contributions to keep track of";
        } else {
            is_added_.resize(instance.chunks() * npus);
        }
    }
    if (!why_none_.empty()) return;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        if (!plan_.reduces(chunk)) {
            distribute(chunk, instance.last_release(chunk));
            continue;
        }
        if (plan_.passes_npus()) is_added_[c * npus + plan_.first_holder(chunk).index()] = true;
        add_token({chunk, plan_.reduction(chunk), 0, true}, instance.last_release(chunk));
    }
}

void RingSchedule::add_token(const Token& token, Ticks time) {
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(tokens_.size()));
        tokens_.emplace_back();
    }
    const std::uint32_t number = unused_.back();
    unused_.pop_back();
    tokens_[number] = token;
    events_.push({time.count(), number});
}

void RingSchedule::distribute(ChunkId chunk, Ticks time) {
    for (const RingStep& step : plan_.distribution(chunk)) add_token({chunk, step, 0, false}, time);
}

std::span<const Send> RingSchedule::next() {
    given_ += sends_.size();
    sends_.clear();
    if (!why_none_.empty()) return {};
    while (sends_.size() < kSendsAtOnce && !events_.empty() && !stop_.requested()) {
        events_.pop(batch_);
        if (!at_once_.empty() && batch_.front().time > at_once_.front().start.count()) give_in_order();
        for (const Event& event : batch_) take(event);
    }
    if (events_.empty()) give_in_order();
    return sends_;
}

void RingSchedule::give_in_order() {
    std::ranges::sort(at_once_, {}, [](const Send& send) { return std::tuple(send.link, send.chunk); });
    sends_.insert(sends_.end(), at_once_.begin(), at_once_.end());
    at_once_.clear();
}

void RingSchedule::take(const Event& event) {
    if (event.is_send) {
        at_once_.push_back({event.chunk, event.link, Ticks(event.time), event.op});
        return;
    }
    Token& token = tokens_[event.token];
    if (token.step.path == RingStep::kNone) return go_on(event.token, Ticks(event.time));
    const auto hops = plan_.path(token.step.path);
    // A token whose first path leads to the ring has not moved yet.
    if (token.hop < hops.size()) return start_hop(event.token, Ticks(event.time));
    go_on(event.token, Ticks(event.time));
}

void RingSchedule::go_on(std::uint32_t number, Ticks now) {
    Token& token = tokens_[number];
    if (const auto step = plan_.next(token.chunk, token.step)) {
        token.step = *step;
        token.hop = 0;
        return start_hop(number, now);
    }
    const Token done = token;
    unused_.push_back(number);
    if (done.is_sum) distribute(done.chunk, now);
}

Op RingSchedule::op_of_arrival(const Token& token, NodeId node) {
    if (!token.is_sum || !instance_.topology().is_npu(node)) return Op::Copy;
    const auto holders = instance_.demand(token.chunk).holders;
    if (!plan_.passes_npus()) {
        // Every NPU that it arrives at is a holder that it has not visited, or the root behind the ring.
        const bool is_last = token.step.left == 0 && !token.step.to_root;
        return is_last && !std::ranges::binary_search(holders, node) ? Op::Copy : Op::Reduce;
    }
    if (!std::ranges::binary_search(holders, node)) return Op::Copy;
    auto added = is_added_[token.chunk.index() * instance_.topology().npus() + node.index()];
    if (added) return Op::Copy;
    added = true;
    return Op::Reduce;
}

void RingSchedule::start_hop(std::uint32_t number, Ticks now) {
    Token& token = tokens_[number];
    const HopGraph& graph = plan_.graph();
    const HopId hop = plan_.path(token.step.path)[token.hop++];
    const Op op = op_of_arrival(token, graph.to(hop));
    Ticks arrival;
    if (const auto link = graph.only_link(hop)) {
        const Ticks beta = instance_.beta(*link, token.chunk);
        const Ticks start = std::max(now, free_[link->index()]);
        free_[link->index()] = start + instance_.busy(*link, beta);
        arrival = start + instance_.alpha(*link) + beta;
        book({token.chunk, *link, start, op}, now);
    } else {
        graph.leg_times(hop, token.chunk, legs_);
        Ticks start = now;
        for (const LegTime& leg : legs_) start = std::max(start, free_[leg.link.index()] - leg.offset);
        for (const LegTime& leg : legs_) {
            free_[leg.link.index()] = start + leg.offset + leg.busy;
            book({token.chunk, leg.link, start + leg.offset, &leg == &legs_.back() ? op : Op::Copy}, now);
        }
        arrival = start + graph.transit(hop, token.chunk);
    }
    makespan_ = std::max(makespan_, arrival);
    events_.push({arrival.count(), number});
}

void RingSchedule::book(const Send& send, Ticks now) {
    if (send.start == now) {
        at_once_.push_back(send);
    } else {
        events_.push({send.start.count(), 0, true, send.op, send.chunk, send.link});
    }
}

std::optional<Schedule> ring_schedule(const Instance& instance, const Stop& stop) {
    RingSchedule ring(instance, stop);
    Schedule schedule{instance.name(), Ticks(0), {}};
    for (auto sends = ring.next(); !sends.empty(); sends = ring.next())
        schedule.sends.insert(schedule.sends.end(), sends.begin(), sends.end());
    if (!ring.is_complete()) return std::nullopt;
    schedule.makespan = ring.makespan();
    put_in_order(schedule, instance.topology().links().size());
    return schedule;
}

std::string why_no_ring(const Instance& instance) { return RingPlan(instance).find({}); }

}  // namespace tutti::heuristics
