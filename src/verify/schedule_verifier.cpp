// A sweep over the sends in order of start. The sends of one tick are processed together: first arrivals
// change their destinations, then the sends read their sources. A send out of a storing node reads the value
// there. A send out of a cut-through switch forwards what entered exactly alpha earlier; with alpha 0 that
// may be a send of the same tick, so these are processed in topological order.
//
// Nearly all sends are ordinary: FastPath judges them as they come, at a few nanoseconds each, and keeps them
// while they are in flight. The others take the exact path: they are collected until their tick is complete,
// sorted by link and judged one by one, with an exact value each; in flight they wait in a heap ordered by
// arrival, then link number, which is also the order in which copies queue at switches. Both paths share the
// state of links, plain chunks and switches, so a send may take either. They do not interfere:
// - An ordinary send breaks no rule and is independent of the other sends of its tick, so it may be processed
//   at any point of the tick. When a send may break a rule, or may touch what an ordinary one touched (the
//   same link, a plain chunk at a switch), all ordinary sends of the tick are undone and take the exact path.
//   So a violation slows down only its own tick.
// - Ordinary arrivals of plain chunks set bits, in any order. Only a `reduce` of a plain chunk at an NPU
//   depends on the value before it; while one is in flight (`odd_`), every tick takes the exact path, and
//   arrivals of both kinds are merged.
// - Cut-through switches that neither copy nor reduce, with links of one beta around them, are passed on the
//   ordinary path too (passages.hpp). With alpha 0 a send may come before the one that feeds it; then it
//   waits until the tick is complete. What is inside them when a tick of plain chunks takes the exact path is
//   handed over, and leaves by the exact path.
// A reduction that cannot be counted (reduction_counts.cpp) is opened: from then on all its sends take the
// exact path, among ordinary sends of other chunks.
//
// On an all-gather the ordinary path takes O(1) per send: no sorting, no allocation, no virtual call. It is
// limited by memory latency, so the bits are prefetched some sends ahead. The exact path alone manages 2
// million sends a second.

#include "verify/schedule_verifier.hpp"

#include "verify/cut_through_order.hpp"
#include "verify/demands.hpp"
#include "verify/fast_path.hpp"
#include "verify/switches.hpp"
#include "verify/violations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>

namespace tutti::verify {
namespace {

struct Later {
    bool operator()(const Arrival& a, const Arrival& b) const {
        if (a.tick != b.tick) return a.tick > b.tick;
        if (a.numbered.send.link != b.numbered.send.link) return a.numbered.send.link > b.numbered.send.link;
        if (a.numbered.send.start != b.numbered.send.start)
            return a.numbered.send.start > b.numbered.send.start;
        if (a.numbered.send.op != b.numbered.send.op) return a.numbered.send.op > b.numbered.send.op;
        return a.numbered.position > b.numbered.position;
    }
};

class Sweep {
  public:
    Sweep(const Instance& instance, const Options& options)
        : instance_(instance),
          topology_(instance.topology()),
          report_(instance, options.max_violations),
          tables_(instance),
          plain_(instance, tables_),
          exact_(instance, tables_),
          counted_(instance, tables_, exact_),
          links_(instance, report_),
          storing_(instance, tables_, plain_, report_),
          cut_through_(instance, report_),
          fast_path_(instance, tables_, plain_, counted_, exact_, cut_through_, links_),
          finish_(instance.collectives().size()) {}

    Verdict run(SendSource& source) {
        for (auto sends = source.next(); !sends.empty(); sends = source.next()) {
            receive(sends, Positions(source));
        }
        end_tick();
        arrive_ordinary(Ticks::max());
        arrive_until(Ticks::max());
        plain_.release_until(Ticks::max());
        cut_through_.advance(Ticks::max());
        storing_.finish();
        for (const LegPtr& leg : cycles_) leg->feeders.clear();
        judge_demands(instance_, tables_, plain_, counted_, exact_, report_);
        judge_makespan(source.makespan());
        Verdict verdict = std::move(report_).verdict();
        verdict.makespan = makespan();
        verdict.finish = finish();
        verdict.sends = sends_;
        return verdict;
    }

  private:
    void receive(std::span<const Send> sends, const Positions& positions) {
        sends_ += sends.size();
        for (std::size_t i = 0; i < sends.size();) {
            if (takes_ordinary_) {
                const auto [next, why] = fast_path_.take(sends, i, positions, now_);
                i = next;
                if (why == FastPath::Why::Done) return;
                if (why == FastPath::Why::Suspect) collect_tick();
                if (why == FastPath::Why::Uncounted) open(sends[i].chunk);
            }
            const NumberedSend numbered{sends[i], positions(i)};
            const Ticks start = numbered.send.start;
            if (!names_are_known(numbered, instance_, report_)) {
                ++i;
            } else if (start < now_) {
                report_out_of_order(numbered, now_, report_);
                ++i;
            } else if (start > now_ || !in_tick_) {
                end_tick();
                begin_tick(start);
            } else {
                batch_.push_back(numbered);
                ++i;
            }
        }
    }

    void begin_tick(Ticks tick) {
        now_ = tick;
        in_tick_ = true;
        takes_ordinary_ = tables_.has_hops() && odd_ == 0;
        // With an odd arrival pending, it matters what its NPU holds before it: end_tick() keeps the order.
        if (odd_ == 0) plain_.release_until(tick);
        arrive_ordinary(tick);
    }

    /// Judges the sends of this tick that were collected.
    void end_tick() {
        if (!in_tick_) return;
        in_tick_ = false;
        if (takes_ordinary_) settle();
        if (takes_ordinary_ && std::ranges::any_of(batch_, [&](const NumberedSend& numbered) {
                return links_.bookings()[numbered.send.link.index()].free_at > now_;
            })) {
            collect_tick();
        }
        takes_ordinary_ = false;
        arrive_until(now_);
        plain_.release_until(now_);
        cut_through_.advance(now_);
        storing_.settle(now_);
        if (!batch_.empty()) take_batch();
    }

    /// Ordinary sends that pass a switch at once, before what feeds them in the order of the stream. Where
    /// nothing does, they take the exact path.
    void settle() {
        std::vector<ChunkId> stuck;
        for (const NumberedSend& numbered : fast_path_.settle()) {
            if (!tables_.chunk(numbered.send.chunk).reduction) return collect_tick();
            stuck.push_back(numbered.send.chunk);
        }
        for (const ChunkId chunk : stuck) {
            if (!exact_.is_open(chunk)) open(chunk);
        }
    }

    /// Moves all sends of this tick, also those already processed, to the exact path.
    void collect_tick() {
        fast_path_.undo(now_, batch_);
        takes_ordinary_ = false;
    }

    /// From here on this reduction takes the exact path.
    void open(ChunkId chunk) {
        fast_path_.undo(now_, chunk, batch_);
        open(std::vector{chunk});
    }
    void open(std::vector<ChunkId> chunks) {
        counted_.open(std::move(chunks), handed_over_);
        take_over();
    }
    void take_over() {
        for (Arrival& arrival : handed_over_.arrivals) in_flight_.push(std::move(arrival));
        for (const StoredCopy& copy : handed_over_.copies) storing_.put(copy);
        for (const auto& [passage, value] : handed_over_.passages) enter(passage, value);
        handed_over_.arrivals.clear();
        handed_over_.copies.clear();
        handed_over_.passages.clear();
    }

    /// Into a cut-through switch, on the exact path.
    void enter(const Passage& passage, const Value& value) {
        const Ticks beta = instance_.beta(passage.link, passage.chunk);
        cut_through_.enter(
            passage.at, {passage.chunk, passage.link, passage.start, Op::Copy}, value,
            std::make_shared<Leg>(
                Leg{passage.link, passage.chunk, passage.start, beta, beta, passage.position, {}}));
    }

    // Arrivals.

    void arrive_ordinary(Ticks tick) {
        for (const Passage& passage : fast_path_.expired(tick)) enter(passage, data_);
        if (odd_ == 0) {
            fast_path_.arrive_until(tick);
        } else {
            fast_path_.arrive_elsewhere(tick, handed_over_.arrivals);
        }
        counted_.arrive_until(tick, handed_over_);
        take_over();
    }

    [[nodiscard]] bool is_odd(const Send& send) const {
        return send.op == Op::Reduce && !tables_.chunk(send.chunk).reduction &&
               topology_.is_npu(topology_.link(send.link).dst);
    }

    /// Processes the arrivals in the heap that are due at `tick` or before.
    void arrive_until(Ticks tick) {
        while (!in_flight_.empty() && in_flight_.top().tick <= tick) {
            const Ticks at = in_flight_.top().tick;
            arriving_.clear();
            while (!in_flight_.empty() && in_flight_.top().tick == at) {
                arriving_.push_back(in_flight_.top());
                in_flight_.pop();
            }
            plain_.release_until(at);
            report_races();
            for (const Arrival& arrival : arriving_) arrive(arrival);
        }
    }

    void arrive(const Arrival& arrival) {
        const Send& send = arrival.numbered.send;
        const NodeId node = topology_.link(send.link).dst;
        if (topology_.is_switch(node)) {
            storing_.arrive(node, send, arrival.value, arrival.tick, arrival.numbered.position);
            return;
        }
        if (is_odd(send)) --odd_;
        if (!tables_.chunk(send.chunk).reduction) {
            const std::uint32_t slot = tables_.chunk(send.chunk).slot;
            if (send.op == Op::Reduce && plain_.holds(node, slot))
                report_double_count(arrival, node, report_);
            plain_.put(node, slot);
            return;
        }
        if (send.op == Op::Copy) {
            exact_.set(node, send.chunk, arrival.value, arrival.tick);
            return;
        }
        const Value before = exact_.value(node, send.chunk, arrival.tick);
        if (overlap(before, arrival.value)) report_double_count(arrival, node, report_);
        exact_.set(node, send.chunk, sum(before, arrival.value), arrival.tick);
    }

    /// V14, for the arrivals of one tick.
    void report_races() {
        racing_.clear();
        for (const Arrival& arrival : arriving_) {
            const NodeId node = topology_.link(arrival.numbered.send.link).dst;
            const bool ordered = topology_.is_switch(node) && !topology_.rule(node).reduce;
            if (!ordered && tables_.chunk(arrival.numbered.send.chunk).reduction) racing_.push_back(&arrival);
        }
        if (racing_.size() < 2) return;
        const auto place = [&](const Arrival* a) {
            return std::pair(topology_.link(a->numbered.send.link).dst, a->numbered.send.chunk);
        };
        std::ranges::stable_sort(racing_, {}, place);
        for (auto first = racing_.begin(); first != racing_.end();) {
            const auto last = std::find_if(first, racing_.end(),
                                           [&](const Arrival* a) { return place(a) != place(*first); });
            const bool copies =
                std::any_of(first, last, [](const Arrival* a) { return a->numbered.send.op == Op::Copy; });
            // Copies queue at a switch; at an NPU the last one wins, unless they are equal.
            const bool queues = topology_.is_switch(place(*first).first);
            const bool alike = std::all_of(first, last, [&](const Arrival* a) {
                return a->numbered.send.op == Op::Copy && (queues || equal(a->value, (*first)->value));
            });
            if (last - first > 1 && copies && !alike) report_race({first, last}, topology_, report_);
            first = last;
        }
    }

    // Sends.

    void take_batch() {
        // Which copy leaves a switch by which link must not depend on the order in the file.
        const auto place = [](const NumberedSend& p) {
            return std::tuple(p.send.link, p.send.chunk, p.send.op, p.position);
        };
        if (!std::ranges::is_sorted(batch_, {}, place)) std::ranges::sort(batch_, {}, place);
        std::vector<ChunkId> counted;
        for (const NumberedSend& numbered : batch_) {
            const ChunkId chunk = numbered.send.chunk;
            if (tables_.chunk(chunk).reduction && !exact_.is_open(chunk)) counted.push_back(chunk);
        }
        if (!counted.empty()) open(std::move(counted));
        if (std::ranges::any_of(batch_,
                                [&](const NumberedSend& numbered) { return passes_plainly(numbered); })) {
            for (const Passage& passage : fast_path_.extract_passages()) enter(passage, data_);
        }
        waiting_.clear();
        for (const NumberedSend& numbered : batch_) {
            if (topology_.is_cut_through(topology_.link(numbered.send.link).src)) {
                waiting_.push_back(numbered);
            } else {
                take(numbered);
            }
        }
        if (!waiting_.empty()) take_waiting();
        batch_.clear();
    }

    /// Whether a plain chunk leaves a cut-through switch.
    [[nodiscard]] bool passes_plainly(const NumberedSend& numbered) const {
        return topology_.is_cut_through(topology_.link(numbered.send.link).src) &&
               !tables_.chunk(numbered.send.chunk).reduction;
    }

    /// What leaves cut-through switches.
    void take_waiting() {
        take_in_cut_through_order(
            waiting_, instance_,
            {[&](NodeId node, ChunkId chunk) { return cut_through_.due(node, chunk, now_); },
             [&](const NumberedSend& numbered, const Forwards& forwards) { take(numbered, forwards); },
             [&](std::span<const WaitingSend> sends) { take_waiting_forever(sends); }});
    }

    /// `forwards`: what a send out of a cut-through switch takes onward.
    void take(const NumberedSend& numbered, const Forwards& forwards = {}) {
        const Send& send = numbered.send;
        const Link& link = topology_.link(send.link);
        const Ticks beta = instance_.beta(send.link, send.chunk);
        judge_forwarding(numbered, instance_, report_);

        const bool from_cut_through = topology_.is_cut_through(link.src);
        const bool to_cut_through = topology_.is_cut_through(link.dst);
        std::vector<LegPtr> feeders;
        const Value value =
            from_cut_through ? cut_through_.leave(link.src, send, feeders, numbered.position, forwards)
            : topology_.is_switch(link.src) ? storing_.leave(link.src, send, numbered.position)
                                            : read_npu(numbered, link.src);
        Ticks pace = beta;
        LegPtr leg;
        if (from_cut_through || to_cut_through) {
            for (const LegPtr& feeder : feeders) pace = std::max(pace, feeder->pace);
            leg = std::make_shared<Leg>(
                Leg{send.link, send.chunk, send.start, pace, pace, numbered.position, std::move(feeders)});
        }
        book(numbered, leg);
        note_arrival(send, pace);
        const Value brought = may_reduce(numbered, link.dst) ? value : nullptr;
        if (to_cut_through) {
            cut_through_.enter(link.dst, send, brought, leg);
        } else if (brought) {
            launch({send.start + link.wire.alpha + pace, numbered, brought});
        }
    }

    /// V5.
    void book(const NumberedSend& numbered, const LegPtr& leg) {
        const Send& send = numbered.send;
        if (leg != nullptr && !tables_.is_passing(send.link, send.chunk)) {
            links_.book(leg);
        } else {
            links_.book(send, instance_.beta(send.link, send.chunk), numbered.position);
        }
    }

    void note_arrival(const Send& send, Ticks pace) {
        const Ticks arrival = send.start + instance_.alpha(send.link) + pace;
        makespan_ = std::max(makespan_, arrival);
        Ticks& finish = finish_[tables_.chunk(send.chunk).collective.index()];
        finish = std::max(finish, arrival);
    }

    /// Sends that carry nothing, each at the pace of all that lead to it.
    void take_waiting_forever(std::span<const WaitingSend> sends) {
        std::vector<LegPtr> legs;
        for (const auto& [numbered, inbound] : sends) {
            const Send& send = numbered.send;
            const NodeId to = topology_.link(send.link).dst;
            judge_forwarding(numbered, instance_, report_);
            static_cast<void>(may_reduce(numbered, to));
            const Ticks beta = instance_.beta(send.link, send.chunk);
            legs.push_back(std::make_shared<Leg>(
                Leg{send.link, send.chunk, send.start, beta, beta, numbered.position, {}}));
            if (topology_.is_cut_through(to)) cut_through_.enter(to, send, nullptr, legs.back());
        }
        for (std::size_t i = 0; i < sends.size(); ++i)
            cut_through_.leave_cycle(topology_.link(legs[i]->link).src, sends[i], legs[i]->feeders);
        for (bool is_final = false; !is_final;) {
            is_final = true;
            for (const LegPtr& leg : legs) {
                for (const LegPtr& feeder : leg->feeders) {
                    if (feeder->pace <= leg->pace) continue;
                    leg->pace = leg->rated = feeder->pace;
                    is_final = false;
                }
            }
        }
        for (std::size_t i = 0; i < sends.size(); ++i) {
            book(sends[i].numbered, legs[i]);
            note_arrival(sends[i].numbered.send, legs[i]->pace);
        }
        cycles_.insert(cycles_.end(), legs.begin(), legs.end());
    }

    void launch(Arrival arrival) {
        const Send& send = arrival.numbered.send;
        const ChunkFacts& chunk = tables_.chunk(send.chunk);
        if (tables_.has_hops() && !chunk.reduction && send.op == Op::Copy) {
            const Hop& hop = tables_.hops(chunk.size)[send.link.index()];
            if (hop.kind != Hop::Special) return fast_path_.launch(arrival.numbered, hop);
        }
        if (is_odd(send)) ++odd_;
        in_flight_.push(std::move(arrival));
    }

    /// V10.
    bool may_reduce(const NumberedSend& numbered, NodeId to) {
        if (numbered.send.op == Op::Copy || topology_.is_npu(to) || topology_.rule(to).reduce) return true;
        report_switch_reduce(numbered, to, report_);
        return false;
    }

    /// V6 and V7.
    Value read_npu(const NumberedSend& numbered, NodeId npu) {
        const Send& send = numbered.send;
        const ChunkFacts& chunk = tables_.chunk(send.chunk);
        // Before the first release nobody has anything of the chunk, whatever the bits say.
        const bool is_there = send.start >= instance_.release(send.chunk);
        Value value = !is_there                       ? nullptr
                      : chunk.reduction               ? exact_.value(npu, send.chunk, send.start)
                      : plain_.holds(npu, chunk.slot) ? data_
                                                      : nullptr;
        if (value) return value;
        const auto holders = instance_.demand(send.chunk).holders;
        const bool is_holder = std::ranges::binary_search(holders, npu);
        const Ticks release = is_holder ? instance_.release(send.chunk, npu) : Ticks(0);
        if (send.start < release) {
            report_before_release(numbered, npu, release, report_);
        } else {
            report_not_held(numbered, npu, report_);
        }
        return nullptr;
    }

    // The end.

    [[nodiscard]] Ticks makespan() const { return std::max(makespan_, fast_path_.makespan()); }

    [[nodiscard]] std::vector<Ticks> finish() const {
        if (finish_.size() == 1) return {makespan()};
        std::vector<Ticks> finish = finish_;
        for (std::size_t i = 0; i < finish.size(); ++i)
            finish[i] = std::max(finish[i], fast_path_.finish()[i]);
        return finish;
    }

    /// V17.
    void judge_makespan(Ticks stated) {
        if (stated == makespan()) return;
        report_.add(Rule::MakespanMismatch, [&] {
            Violation v;
            v.message =
                fmt::format("the schedule states a makespan of {}, but its last arrival is at tick {}",
                            stated.count(), makespan().count());
            v.tick = makespan();
            return v;
        });
    }

    const Instance& instance_;
    const Topology& topology_;
    Report report_;
    Tables tables_;
    Holdings plain_;
    ExactSums exact_;
    ReductionCounts counted_;
    LinkLedger links_;
    StoringSwitches storing_;
    CutThroughSwitches cut_through_;
    FastPath fast_path_;
    const Value data_ = singleton(1, 0);  ///< the value of a plain chunk

    Ticks now_;
    bool in_tick_ = false;
    bool takes_ordinary_ = false;
    std::vector<NumberedSend> batch_, waiting_;  ///< of this tick
    std::priority_queue<Arrival, std::vector<Arrival>, Later> in_flight_;
    std::vector<LegPtr> cycles_;  ///< they own each other until the end
    std::size_t odd_ = 0;         ///< in in_flight_: a plain chunk that is added to an NPU's
    std::vector<Arrival> arriving_;
    HandedOver handed_over_;
    std::vector<const Arrival*> racing_;
    Ticks makespan_;
    std::vector<Ticks> finish_;  ///< by collective, of what went the exact way
    std::uint64_t sends_ = 0;
};

}  // namespace

Verdict verify(const Instance& instance, SendSource& sends, const Options& options) {
    return Sweep(instance, options).run(sends);
}

Verdict verify(const Instance& instance, const Schedule& schedule, const Options& options) {
    ScheduleSource source(schedule);
    return verify(instance, source, options);
}

}  // namespace tutti::verify
