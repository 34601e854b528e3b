// The sweep. Sends come in order of start. All sends of one tick are taken together: first what has arrived
// by then acts on its destinations, then the sends read their sources. A send out of a storing node reads
// what is there; one out of a cut-through switch takes onward what entered exactly alpha earlier, which with
// alpha 0 may be a send of the same tick, so those are taken in the order in which the chunk passes the
// switches.
//
// What is in flight waits in a heap ordered by arrival, then link number; that order is also the order in
// which copies queue up at switches.

#include "verify/schedule_verifier.hpp"

#include "verify/holdings.hpp"
#include "verify/links.hpp"
#include "verify/report.hpp"
#include "verify/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace tutti::verify {
namespace {

/// A send and where it stands in its file.
struct Placed {
    Send send;
    std::uint64_t position = 0;
};

struct Arrival {
    Ticks tick;
    Placed placed;
    Value value;
};

struct Later {
    bool operator()(const Arrival& a, const Arrival& b) const {
        if (a.tick != b.tick) return a.tick > b.tick;
        if (a.placed.send.link != b.placed.send.link) return a.placed.send.link > b.placed.send.link;
        if (a.placed.send.start != b.placed.send.start) return a.placed.send.start > b.placed.send.start;
        if (a.placed.send.op != b.placed.send.op) return a.placed.send.op > b.placed.send.op;
        return a.placed.position > b.placed.position;
    }
};

class Sweep {
  public:
    Sweep(const Instance& instance, const Options& options)
        : instance_(instance),
          topology_(instance.topology()),
          report_(instance, options.max_violations),
          holdings_(instance),
          links_(instance, report_),
          storing_(instance, report_),
          cut_through_(instance, report_) {}

    Verdict run(SendSource& source) {
        for (auto sends = source.next(); !sends.empty(); sends = source.next()) {
            for (std::size_t i = 0; i < sends.size(); ++i) receive({sends[i], source.position(i)});
        }
        take_batch();
        arrive_until(Ticks::max());
        cut_through_.advance(Ticks::max());
        storing_.finish();
        judge_demands();
        judge_makespan(source.makespan());
        Verdict verdict = std::move(report_).verdict();
        verdict.makespan = makespan_;
        verdict.sends = sends_;
        return verdict;
    }

  private:
    void receive(const Placed& placed) {
        ++sends_;
        if (!names_are_known(placed)) return;
        const Ticks start = placed.send.start;
        if (start < now_) {
            report_.add(Rule::OutOfOrder, [&] {
                return violation(placed,
                                 fmt::format("send {} starts at tick {}, after a send that starts at tick {}",
                                             placed.position, start.count(), now_.count()));
            });
            return;
        }
        if (start > now_) take_batch();
        now_ = start;
        batch_.push_back(placed);
    }

    // Reports.

    static Violation violation(const Placed& placed, std::string message) {
        Violation v;
        v.message = std::move(message);
        v.sends = {placed.position};
        v.tick = placed.send.start;
        return v;
    }
    static Violation violation_of(const Placed& placed, NodeId node, std::string message) {
        Violation v = violation(placed, std::move(message));
        v.link = placed.send.link;
        v.chunk = placed.send.chunk;
        v.node = node;
        return v;
    }

    /// V1, V2, V3.
    bool names_are_known(const Placed& placed) {
        const Send& send = placed.send;
        const bool chunk = send.chunk.index() < instance_.chunks();
        const bool link = send.link.index() < topology_.links().size();
        const bool start = send.start >= Ticks(0) && send.start <= kMaxStart;
        if (!chunk) {
            report_.add(Rule::UnknownChunk, [&] {
                return violation(placed,
                                 fmt::format("send {} names chunk {}, but the instance has {} chunks",
                                             placed.position, send.chunk.value(), instance_.chunks()));
            });
        }
        if (!link) {
            report_.add(Rule::UnknownLink, [&] {
                return violation(placed,
                                 fmt::format("send {} names link {}, but the topology has {} links",
                                             placed.position, send.link.value(), topology_.links().size()));
            });
        }
        if (!start) {
            report_.add(Rule::BadStart, [&] {
                return violation(placed, fmt::format("send {} starts at tick {}; expected 0 to 2^62",
                                                     placed.position, send.start.count()));
            });
        }
        return chunk && link && start;
    }

    // Arrivals.

    /// Lets everything act that arrives at `tick` or before.
    void arrive_until(Ticks tick) {
        while (!in_flight_.empty() && in_flight_.top().tick <= tick) {
            const Ticks at = in_flight_.top().tick;
            arriving_.clear();
            while (!in_flight_.empty() && in_flight_.top().tick == at) {
                arriving_.push_back(in_flight_.top());
                in_flight_.pop();
            }
            report_races();
            for (const Arrival& arrival : arriving_) arrive(arrival);
        }
    }

    void arrive(const Arrival& arrival) {
        const Send& send = arrival.placed.send;
        const NodeId node = topology_.link(send.link).dst;
        if (topology_.is_switch(node)) {
            storing_.arrive(node, send, arrival.value, arrival.tick, arrival.placed.position);
            return;
        }
        if (send.op == Op::Copy) {
            holdings_.set(node, send.chunk, arrival.value);
            return;
        }
        const Value before = holdings_.value(node, send.chunk);
        if (overlap(before, arrival.value)) {
            report_.add(Rule::DoubleCount, [&] {
                Violation v = violation_of(
                    arrival.placed, node,
                    fmt::format("send {} adds to chunk {} at NPU {} a contribution that is in it already",
                                arrival.placed.position, send.chunk.value(), node.value()));
                v.tick = arrival.tick;
                return v;
            });
        }
        holdings_.set(node, send.chunk, sum(before, arrival.value));
    }

    /// V14 among the arrivals of one tick.
    void report_races() {
        racing_.clear();
        for (const Arrival& arrival : arriving_) {
            const NodeId node = topology_.link(arrival.placed.send.link).dst;
            const bool ordered = topology_.is_switch(node) && !topology_.rule(node).reduce;
            if (!ordered && instance_.demand(arrival.placed.send.chunk).reduction)
                racing_.push_back(&arrival);
        }
        if (racing_.size() < 2) return;
        const auto place = [&](const Arrival* a) {
            return std::pair(topology_.link(a->placed.send.link).dst, a->placed.send.chunk);
        };
        std::ranges::stable_sort(racing_, {}, place);
        for (auto first = racing_.begin(); first != racing_.end();) {
            const auto last = std::find_if(first, racing_.end(),
                                           [&](const Arrival* a) { return place(a) != place(*first); });
            const bool copies =
                std::any_of(first, last, [](const Arrival* a) { return a->placed.send.op == Op::Copy; });
            // Copies queue up at a switch; at an NPU the last one wins, unless they are equal.
            const bool queues = topology_.is_switch(place(*first).first);
            const bool alike = std::all_of(first, last, [&](const Arrival* a) {
                return a->placed.send.op == Op::Copy && (queues || equal(a->value, (*first)->value));
            });
            if (last - first > 1 && copies && !alike) {
                report_.add(Rule::ArrivalRace, [&] {
                    const auto [node, chunk] = place(*first);
                    Violation v = violation_of(
                        (*first)->placed, node,
                        fmt::format("chunk {} reaches {} several times at tick {}, once as a copy: the "
                                    "result depends on the order",
                                    chunk.value(), name_of(topology_, node), (*first)->tick.count()));
                    v.sends.clear();
                    for (auto a = first; a != last; ++a) v.sends.push_back((*a)->placed.position);
                    v.tick = (*first)->tick;
                    return v;
                });
            }
            first = last;
        }
    }

    // Sends.

    /// Judges all sends that start now.
    void take_batch() {
        if (batch_.empty()) return;
        arrive_until(now_);
        cut_through_.advance(now_);
        storing_.settle(now_);
        waiting_.clear();
        // The order in the file must not decide which copy leaves a switch by which link.
        std::ranges::sort(batch_, {}, [](const Placed& p) {
            return std::tuple(p.send.link, p.send.chunk, p.send.op, p.position);
        });
        for (const Placed& placed : batch_) {
            if (topology_.is_cut_through(topology_.link(placed.send.link).src)) {
                waiting_.push_back(placed);
            } else {
                take(placed);
            }
        }
        if (!waiting_.empty()) take_onward();
        batch_.clear();
    }

    /// Takes the sends out of cut-through switches, each after all sends of this tick that feed its switch at
    /// once.
    void take_onward() {
        const auto at = [](NodeId node, ChunkId chunk) {
            return (std::uint64_t{node.value()} << 32) | chunk.value();
        };
        std::unordered_map<std::uint64_t, std::size_t> feeding;
        std::unordered_map<std::uint64_t, std::vector<std::size_t>> blocked;
        const auto feeds_at_once = [&](const Placed& p) {
            return topology_.is_cut_through(topology_.link(p.send.link).dst) &&
                   instance_.alpha(p.send.link) == Ticks(0);
        };
        for (const Placed& p : waiting_) {
            if (feeds_at_once(p)) ++feeding[at(topology_.link(p.send.link).dst, p.send.chunk)];
        }
        std::vector<bool> taken(waiting_.size(), false);
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            const auto source = at(topology_.link(waiting_[i].send.link).src, waiting_[i].send.chunk);
            if (feeding.contains(source)) {
                blocked[source].push_back(i);
            } else {
                ready.push_back(i);
            }
        }
        for (std::size_t next = 0; next < ready.size(); ++next) {
            const Placed& p = waiting_[ready[next]];
            take(p);
            taken[ready[next]] = true;
            if (!feeds_at_once(p)) continue;
            const auto destination = at(topology_.link(p.send.link).dst, p.send.chunk);
            if (--feeding[destination] > 0) continue;
            const auto& freed = blocked[destination];
            ready.insert(ready.end(), freed.begin(), freed.end());
        }
        // What is left goes round in a circle without a beginning: nothing feeds it.
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            if (!taken[i]) take(waiting_[i]);
        }
    }

    void take(const Placed& placed) {
        const Send& send = placed.send;
        const Link& link = topology_.link(send.link);
        const Ticks beta = instance_.beta(send.link, send.chunk);
        judge_forwarding(placed, link);

        const bool from_cut_through = topology_.is_cut_through(link.src);
        const bool to_cut_through = topology_.is_cut_through(link.dst);
        std::vector<LegPtr> feeders;
        const Value value = from_cut_through ? cut_through_.leave(link.src, send, feeders, placed.position)
                            : topology_.is_switch(link.src) ? storing_.leave(link.src, send, placed.position)
                                                            : read_npu(placed, link.src);
        Ticks pace = beta;
        LegPtr leg;
        if (from_cut_through || to_cut_through) {
            for (const LegPtr& feeder : feeders) pace = std::max(pace, feeder->pace);
            leg = std::make_shared<Leg>(
                Leg{send.link, send.chunk, send.start, pace, pace, placed.position, std::move(feeders)});
            links_.book(leg);
        } else {
            links_.book(send, beta, placed.position);
        }
        const Ticks arrival = send.start + link.wire.alpha + pace;
        makespan_ = std::max(makespan_, arrival);
        const Value brought = may_reduce(placed, link.dst) ? value : nullptr;
        if (to_cut_through) {
            cut_through_.enter(link.dst, send, brought, leg);
        } else if (brought) {
            in_flight_.push({arrival, placed, brought});
        }
    }

    /// V10.
    bool may_reduce(const Placed& placed, NodeId to) {
        if (placed.send.op == Op::Copy || topology_.is_npu(to) || topology_.rule(to).reduce) return true;
        report_.add(Rule::SwitchReduce, [&] {
            return violation_of(placed, to,
                                fmt::format("send {} is a reduce into switch {}, which does not reduce",
                                            placed.position, to.value()));
        });
        return false;
    }

    /// V8.
    void judge_forwarding(const Placed& placed, const Link& link) {
        const CollectiveId collective = instance_.demand(placed.send.chunk).collective;
        for (const NodeId node : {link.src, link.dst}) {
            if (instance_.may_carry(node, collective)) continue;
            report_.add(Rule::RelayForbidden, [&] {
                return violation_of(
                    placed, node,
                    fmt::format(
                        "send {} moves chunk {} of group '{}' through NPU {}, which is no member, but "
                        "forwarding is 'group'",
                        placed.position, placed.send.chunk.value(),
                        instance_.group_of(placed.send.chunk).name, node.value()));
            });
        }
    }

    /// V6 and V7.
    Value read_npu(const Placed& placed, NodeId npu) {
        const Send& send = placed.send;
        const Ticks release = instance_.release(send.chunk);
        if (send.start < release && holdings_.is_holder(npu, send.chunk)) {
            report_.add(Rule::BeforeRelease, [&] {
                return violation_of(
                    placed, npu,
                    fmt::format(
                        "send {} takes chunk {} from NPU {} at tick {}, before its release at tick {}",
                        placed.position, send.chunk.value(), npu.value(), send.start.count(),
                        release.count()));
            });
            return nullptr;
        }
        Value value = holdings_.value(npu, send.chunk);
        if (!value) {
            report_.add(Rule::NotHeld, [&] {
                return violation_of(
                    placed, npu,
                    fmt::format("send {} takes chunk {} from NPU {} at tick {}, which does not hold it then",
                                placed.position, send.chunk.value(), npu.value(), send.start.count()));
            });
        }
        return value;
    }

    // The end.

    /// V15 and V16.
    void judge_demands() {
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const ChunkId chunk(c);
            const Demand demand = instance_.demand(chunk);
            for (const NodeId receiver : demand.receivers) {
                const Value value = holdings_.value(receiver, chunk);
                const std::size_t wanted = demand.reduction ? demand.holders.size() : 1;
                const std::size_t found = value ? value->bits.count() : 0;
                if (found == wanted) continue;
                report_.add(found == 0 ? Rule::DemandUnmet : Rule::DemandWrong, [&] {
                    Violation v;
                    v.message = found == 0
                                    ? fmt::format("NPU {} never gets chunk {}", receiver.value(), c)
                                    : fmt::format("NPU {} ends with {} of the {} contributions to chunk {}",
                                                  receiver.value(), found, wanted, c);
                    v.chunk = chunk;
                    v.node = receiver;
                    return v;
                });
            }
        }
    }

    /// V17.
    void judge_makespan(Ticks stated) {
        if (stated == makespan_) return;
        report_.add(Rule::MakespanMismatch, [&] {
            Violation v;
            v.message =
                fmt::format("the schedule states a makespan of {}, but its last arrival is at tick {}",
                            stated.count(), makespan_.count());
            v.tick = makespan_;
            return v;
        });
    }

    const Instance& instance_;
    const Topology& topology_;
    Report report_;
    Holdings holdings_;
    LinkLedger links_;
    StoringSwitches storing_;
    CutThroughSwitches cut_through_;
    std::priority_queue<Arrival, std::vector<Arrival>, Later> in_flight_;
    std::vector<Arrival> arriving_;
    std::vector<const Arrival*> racing_;
    std::vector<Placed> batch_, waiting_;
    Ticks now_;
    Ticks makespan_;
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
