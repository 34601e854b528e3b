#include "verify/chunk_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tutti::verify {

ChunkReplay::ChunkReplay(const Instance& instance, const symmetry::SymmetricSchedule& schedule,
                         Report& report)
    : instance_(instance),
      schedule_(schedule),
      report_(report),
      data_(singleton(1, 0)),
      values_(instance.topology().npus()),
      since_(instance.topology().npus()),
      stamp_(instance.topology().npus(), 0) {}

void ChunkReplay::complain(Rule rule, const Transfer& transfer, NodeId node, Ticks tick,
                           const std::string& message) {
    report_.add(rule, [&] {
        Violation v;
        v.message = message;
        v.sends = {transfer.position};
        v.tick = tick;
        v.link = transfer.link;
        v.chunk = chunk_;
        v.node = node;
        return v;
    });
}

bool ChunkReplay::is_holder(NodeId npu) const { return std::ranges::binary_search(demand_.holders, npu); }

/// What arrived, and a holder's own from its release on, if nothing has replaced it since.
Value ChunkReplay::value(NodeId npu, Ticks tick) const {
    const bool changed = stamp_[npu.index()] == round_;
    const Value arrived = changed ? values_[npu.index()] : nullptr;
    if (!is_holder(npu)) return arrived;
    const Ticks release = instance_.release(chunk_, npu);
    if (release > tick || (changed && since_[npu.index()] >= release)) return arrived;
    if (!demand_.reduction) return data_;
    const auto own = std::ranges::lower_bound(demand_.holders, npu) - demand_.holders.begin();
    return sum(arrived, singleton(demand_.holders.size(), static_cast<std::size_t>(own)));
}

void ChunkReplay::set(NodeId npu, const Value& value, Ticks tick) {
    values_[npu.index()] = value;
    since_[npu.index()] = tick;
    stamp_[npu.index()] = round_;
}

/// V6, V7, V8.
void ChunkReplay::read(Transfer& transfer) {
    for (const NodeId node : {transfer.src, transfer.dst}) {
        if (instance_.may_carry(node, demand_.collective)) continue;
        complain(
            Rule::RelayForbidden, transfer, node, transfer.start,
            fmt::format("send {} moves chunk {} of group '{}' through NPU {}, which is no member, but "
                        "forwarding is 'group'",
                        transfer.position, chunk_.value(), instance_.group_of(chunk_).name, node.value()));
    }
    transfer.value = value(transfer.src, transfer.start);
    if (transfer.value) return;
    const Ticks release = is_holder(transfer.src) ? instance_.release(chunk_, transfer.src) : Ticks(0);
    if (transfer.start < release) {
        complain(Rule::BeforeRelease, transfer, transfer.src, transfer.start,
                 fmt::format("send {} takes chunk {} from NPU {} at tick {}, before its release at tick {}",
                             transfer.position, chunk_.value(), transfer.src.value(), transfer.start.count(),
                             release.count()));
    } else {
        complain(
            Rule::NotHeld, transfer, transfer.src, transfer.start,
            fmt::format("send {} takes chunk {} from NPU {} at tick {}, which does not hold it then",
                        transfer.position, chunk_.value(), transfer.src.value(), transfer.start.count()));
    }
}

/// V13 and V14, for the arrivals of one tick.
void ChunkReplay::arrive(std::span<const std::uint32_t> together) {
    if (demand_.reduction) {
        for (std::size_t i = 0; i < together.size();) {
            const auto same_place = [&](std::size_t k) {
                return k < together.size() && transfers_[together[k]].dst == transfers_[together[i]].dst;
            };
            std::size_t end = i, brought = 0;
            bool copies = false, alike = true;
            const Transfer* first = nullptr;
            for (; same_place(end); ++end) {
                const Transfer& t = transfers_[together[end]];
                if (!t.value) continue;
                ++brought;
                if (first == nullptr) first = &t;
                copies = copies || t.op == Op::Copy;
                alike = alike && t.op == Op::Copy && equal(t.value, first->value);
            }
            if (brought > 1 && copies && !alike) {
                complain(Rule::ArrivalRace, *first, first->dst, first->arrival,
                         fmt::format(
                             "chunk {} reaches NPU {} several times at tick {}, once as a copy: the result "
                             "depends on the order",
                             chunk_.value(), first->dst.value(), first->arrival.count()));
            }
            i = end;
        }
    }
    for (const std::uint32_t i : together) {
        Transfer& t = transfers_[i];
        if (!t.value) continue;
        if (t.op == Op::Copy) {
            set(t.dst, t.value, t.arrival);
        } else {
            const Value before = value(t.dst, t.arrival);
            if (overlap(before, t.value)) {
                complain(
                    Rule::DoubleCount, t, t.dst, t.arrival,
                    fmt::format("send {} adds to chunk {} at NPU {} a contribution that is in it already",
                                t.position, chunk_.value(), t.dst.value()));
            }
            set(t.dst, sum(before, t.value), t.arrival);
        }
        t.value = nullptr;
    }
}

/// V15 and V16.
void ChunkReplay::judge_demand() {
    for (const NodeId receiver : demand_.receivers) {
        const Value last = value(receiver, Ticks::max());
        const std::size_t wanted = demand_.reduction ? demand_.holders.size() : 1;
        const std::size_t found = last ? last->bits.count() : 0;
        if (found == wanted) continue;
        report_.add(found == 0 ? Rule::DemandUnmet : Rule::DemandWrong, [&] {
            Violation v;
            v.message = found == 0
                            ? fmt::format("NPU {} never gets chunk {}", receiver.value(), chunk_.value())
                            : fmt::format("NPU {} ends with {} of the {} contributions to chunk {}",
                                          receiver.value(), found, wanted, chunk_.value());
            v.chunk = chunk_;
            v.node = receiver;
            return v;
        });
    }
}

Ticks ChunkReplay::judge(std::span<const std::uint32_t> sends) {
    ++round_;
    chunk_ = schedule_.sends[sends.front()].chunk;
    demand_ = instance_.demand(chunk_);
    transfers_.clear();
    Ticks last;
    for (const std::uint32_t position : sends) {
        const Send& send = schedule_.sends[position];
        const Link& link = instance_.topology().link(send.link);
        const Ticks arrival = send.start + link.wire.alpha + instance_.beta(send.link, chunk_);
        transfers_.push_back(
            {position, link.src, link.dst, send.start, arrival, send.link, send.op, nullptr});
        last = std::max(last, arrival);
    }
    by_arrival_.resize(transfers_.size());
    std::iota(by_arrival_.begin(), by_arrival_.end(), 0U);
    std::ranges::sort(by_arrival_, {}, [&](std::uint32_t i) {
        return std::tuple(transfers_[i].arrival, transfers_[i].dst, transfers_[i].link, i);
    });
    // What arrives at a tick can be sent at that tick; an arrival comes after its own start.
    std::size_t next = 0;
    const auto arrive_until = [&](Ticks tick) {
        while (next < by_arrival_.size() && transfers_[by_arrival_[next]].arrival <= tick) {
            std::size_t end = next;
            while (end < by_arrival_.size() &&
                   transfers_[by_arrival_[end]].arrival == transfers_[by_arrival_[next]].arrival)
                ++end;
            arrive(std::span(by_arrival_).subspan(next, end - next));
            next = end;
        }
    };
    for (Transfer& transfer : transfers_) {
        arrive_until(transfer.start);
        read(transfer);
    }
    arrive_until(Ticks::max());
    judge_demand();
    for (const Transfer& transfer : transfers_) values_[transfer.dst.index()] = nullptr;
    return last;
}

}  // namespace tutti::verify
