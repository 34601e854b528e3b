// The catalogue of ways to break a schedule. Each is a function of a few lines: pick a send for which the
// change makes sense, change it. What a mutant breaks beyond its own rule is for the second checker to say.

#include "tests/mutants/mutations.hpp"

#include <algorithm>
#include <array>

namespace tutti::mutants {
namespace {

using Mutant = std::optional<Schedule>;

/// A schedule under the knife.
struct Patient {
    Patient(const Instance& of, const Schedule& healthy, Rng& random)
        : instance(of), topology(of.topology()), rng(random), schedule(healthy) {}

    const Instance& instance;
    const Topology& topology;
    Rng& rng;
    Schedule schedule;

    [[nodiscard]] std::vector<Send>& sends() { return schedule.sends; }
    [[nodiscard]] NodeId from(const Send& send) const { return topology.link(send.link).src; }
    [[nodiscard]] NodeId to(const Send& send) const { return topology.link(send.link).dst; }
    [[nodiscard]] bool is_storing_switch(NodeId node) const {
        return topology.is_switch(node) && !topology.is_cut_through(node);
    }
    [[nodiscard]] bool is_holder(NodeId node, ChunkId chunk) const {
        return std::ranges::binary_search(instance.demand(chunk).holders, node);
    }
    /// Where no cut-through switch is on the way.
    [[nodiscard]] Ticks arrival(const Send& send) const {
        return send.start + instance.alpha(send.link) + instance.beta(send.link, send.chunk);
    }
    /// A tick after everything.
    [[nodiscard]] Ticks end() const {
        Ticks latest = schedule.makespan;
        for (const Collective& collective : instance.collectives())
            latest = std::max(latest, last_release(collective));
        return latest + Ticks(1);
    }

    /// One of the things for which `fits` holds, at random.
    template <class List, class Fits>
    [[nodiscard]] auto pick(List&& list, Fits fits) -> decltype(&*list.begin()) {
        std::vector<decltype(&*list.begin())> fitting;
        for (auto& thing : list) {
            if (fits(thing)) fitting.push_back(&thing);
        }
        return fitting.empty() ? nullptr : fitting[rng.below(fitting.size())];
    }
    template <class Fits>
    [[nodiscard]] Send* pick_send(Fits fits) {
        return pick(sends(), fits);
    }
    [[nodiscard]] Send* any_send() {
        return pick_send([](const Send&) { return true; });
    }
    template <class Fits>
    [[nodiscard]] std::optional<LinkId> pick_link(Fits fits) {
        std::vector<LinkId> ids;
        for (std::size_t i = 0; i < topology.links().size(); ++i) ids.emplace_back(i);
        const LinkId* id = pick(ids, fits);
        return id == nullptr ? std::nullopt : std::optional(*id);
    }
    [[nodiscard]] std::optional<ChunkId> any_chunk() {
        if (instance.chunks() == 0) return std::nullopt;
        return ChunkId(rng.below(instance.chunks()));
    }
    [[nodiscard]] Ticks ticks(std::int64_t limit) const {
        return Ticks(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(limit))));
    }
};

Mutant drop_send(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    if (p.sends().empty()) return std::nullopt;
    p.sends().erase(p.sends().begin() + static_cast<std::ptrdiff_t>(rng.below(p.sends().size())));
    return p.schedule;
}

Mutant move_earlier(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([](const Send& s) { return s.start > Ticks(0); });
    if (send == nullptr) return std::nullopt;
    send->start -= Ticks(1) + p.ticks(send->start.count());
    return p.schedule;
}

Mutant starve_follower(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([&](const Send& first) {
        return std::ranges::any_of(p.sends(), [&](const Send& next) {
            return next.chunk == first.chunk && p.from(next) == p.to(first) && next.start == p.arrival(first);
        });
    });
    if (send == nullptr) return std::nullopt;
    send->start += Ticks(1) + p.ticks(4);
    return p.schedule;
}

Mutant swap_chunk(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.any_send();
    const auto other = p.any_chunk();
    if (send == nullptr || !other || send->chunk == *other) return std::nullopt;
    send->chunk = *other;
    return p.schedule;
}

Mutant swap_link(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.any_send();
    if (send == nullptr) return std::nullopt;
    const auto other = p.pick_link([&](LinkId link) { return link != send->link; });
    if (!other) return std::nullopt;
    send->link = *other;
    return p.schedule;
}

Mutant deliver_to_wrong_rank(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([&](const Send& s) { return p.topology.is_npu(p.to(s)); });
    if (send == nullptr) return std::nullopt;
    const auto other = p.pick_link([&](LinkId link) {
        const Link& there = p.topology.link(link);
        return there.src == p.from(*send) && there.dst != p.to(*send);
    });
    if (!other) return std::nullopt;
    send->link = *other;
    return p.schedule;
}

Mutant exchange_starts(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send *a = p.any_send(), *b = p.any_send();
    if (a == nullptr || a->start == b->start) return std::nullopt;
    std::swap(a->start, b->start);
    return p.schedule;
}

Mutant overlap_two(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const Send* later = p.any_send();
    if (later == nullptr) return std::nullopt;
    Send* earlier =
        p.pick_send([&](const Send& s) { return s.link == later->link && s.start < later->start; });
    if (earlier == nullptr) return std::nullopt;
    const Ticks busy = std::min(p.instance.beta(later->link, later->chunk), later->start - earlier->start);
    earlier->start =
        later->start - p.ticks(std::min(busy, p.instance.beta(earlier->link, earlier->chunk)).count());
    return p.schedule;
}

Mutant send_twice_at_once(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const Send* send = p.any_send();
    if (send == nullptr) return std::nullopt;
    const Send twin = *send;
    p.sends().push_back(twin);
    return p.schedule;
}

Mutant repeat_reduce(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const Send* send = p.pick_send([&](const Send& s) {
        return s.op == Op::Reduce && p.topology.is_npu(p.from(s)) && p.topology.is_npu(p.to(s));
    });
    if (send == nullptr) return std::nullopt;
    Send again = *send;
    again.start = p.end();
    p.sends().push_back(again);
    return p.schedule;
}

Mutant reduce_instead_of_copy(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([&](const Send& s) {
        return s.op == Op::Copy && p.topology.is_npu(p.to(s)) && p.is_holder(p.to(s), s.chunk);
    });
    if (send == nullptr) return std::nullopt;
    send->op = Op::Reduce;
    return p.schedule;
}

Mutant copy_instead_of_reduce(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([&](const Send& s) { return s.op == Op::Reduce && p.topology.is_npu(p.to(s)); });
    if (send == nullptr) return std::nullopt;
    send->op = Op::Copy;
    return p.schedule;
}

/// At the end, somebody who has only his own contribution overwrites a receiver's sum with it.
Mutant overwrite_sum(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const auto chunk = p.any_chunk();
    if (!chunk || !instance.demand(*chunk).reduction || instance.demand(*chunk).holders.size() < 2)
        return std::nullopt;
    const auto link = p.pick_link([&](LinkId id) {
        const Link& there = p.topology.link(id);
        const auto receivers = instance.demand(*chunk).receivers;
        const bool touched = std::ranges::any_of(
            p.sends(), [&](const Send& s) { return s.chunk == *chunk && p.to(s) == there.src; });
        return p.is_holder(there.src, *chunk) && !touched && std::ranges::binary_search(receivers, there.dst);
    });
    if (!link) return std::nullopt;
    p.sends().push_back({*chunk, *link, p.end(), Op::Copy});
    return p.schedule;
}

Mutant claim_less(const Instance&, const Schedule& schedule, Rng& rng) {
    Schedule mutant = schedule;
    if (mutant.makespan == Ticks(0)) return std::nullopt;
    mutant.makespan =
        Ticks(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(mutant.makespan.count()))));
    return mutant;
}

Mutant claim_more(const Instance&, const Schedule& schedule, Rng& rng) {
    Schedule mutant = schedule;
    mutant.makespan += Ticks(1 + static_cast<std::int64_t>(rng.below(3)));
    return mutant;
}

Mutant visit_outsider(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const auto chunk = p.any_chunk();
    if (!chunk) return std::nullopt;
    const CollectiveId collective = instance.demand(*chunk).collective;
    const auto link = p.pick_link([&](LinkId id) {
        const Link& there = p.topology.link(id);
        return p.is_holder(there.src, *chunk) && !instance.may_carry(there.dst, collective);
    });
    if (!link) return std::nullopt;
    p.sends().push_back({*chunk, *link, p.end(), Op::Copy});
    return p.schedule;
}

Mutant copy_at_switch(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const Send* send = p.pick_send(
        [&](const Send& s) { return p.is_storing_switch(p.from(s)) && !p.topology.rule(p.from(s)).copy; });
    if (send == nullptr) return std::nullopt;
    Send again = *send;
    again.start = p.end();
    p.sends().push_back(again);
    return p.schedule;
}

Mutant copy_at_crossbar(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const Send* send = p.pick_send([&](const Send& s) {
        return p.topology.is_cut_through(p.from(s)) && !p.topology.rule(p.from(s)).copy;
    });
    if (send == nullptr) return std::nullopt;
    const auto link =
        p.pick_link([&](LinkId id) { return p.topology.link(id).src == p.from(*send) && id != send->link; });
    if (!link) return std::nullopt;
    Send again = *send;
    again.link = *link;
    p.sends().push_back(again);
    return p.schedule;
}

Mutant reduce_at_switch(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([&](const Send& s) {
        return s.op == Op::Copy && p.topology.is_switch(p.to(s)) && !p.topology.rule(p.to(s)).reduce;
    });
    if (send == nullptr) return std::nullopt;
    send->op = Op::Reduce;
    return p.schedule;
}

/// After the end, a holder fills a switch with copies that nobody takes away.
Mutant overflow_buffer(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const auto chunk = p.any_chunk();
    if (!chunk) return std::nullopt;
    const auto link = p.pick_link([&](LinkId id) {
        const Link& there = p.topology.link(id);
        return p.is_holder(there.src, *chunk) && p.is_storing_switch(there.dst) &&
               p.topology.rule(there.dst).buffer.has_value();
    });
    if (!link) return std::nullopt;
    const Ticks apart = instance.alpha(*link) + instance.beta(*link, *chunk);
    Ticks start = p.end();
    for (std::uint32_t i = 0; i <= *p.topology.rule(p.topology.link(*link).dst).buffer; ++i, start += apart) {
        p.sends().push_back({*chunk, *link, start, Op::Copy});
    }
    return p.schedule;
}

Mutant miss_crossbar(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([&](const Send& s) { return p.topology.is_cut_through(p.from(s)); });
    if (send == nullptr) return std::nullopt;
    send->start = p.end();
    return p.schedule;
}

Mutant drop_onward_half(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const Send* send = p.pick_send([&](const Send& s) {
        return p.topology.is_cut_through(p.from(s)) && !p.topology.rule(p.from(s)).copy;
    });
    if (send == nullptr) return std::nullopt;
    p.sends().erase(p.sends().begin() + (send - p.sends().data()));
    return p.schedule;
}

Mutant send_before_release(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.pick_send([&](const Send& s) {
        return p.is_holder(p.from(s), s.chunk) && p.instance.release(s.chunk) > Ticks(0);
    });
    if (send == nullptr) return std::nullopt;
    send->start = p.ticks(instance.release(send->chunk).count());
    return p.schedule;
}

Mutant name_unknown_chunk(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.any_send();
    if (send == nullptr) return std::nullopt;
    send->chunk = ChunkId(instance.chunks() + rng.below(3));
    return p.schedule;
}

Mutant name_unknown_link(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.any_send();
    if (send == nullptr) return std::nullopt;
    send->link = LinkId(p.topology.links().size() + rng.below(3));
    return p.schedule;
}

Mutant start_before_time(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    Send* send = p.any_send();
    if (send == nullptr) return std::nullopt;
    send->start = rng.below(2) == 0 ? Ticks(-1) - p.ticks(5) : kMaxStart + Ticks(1);
    return p.schedule;
}

/// A copy of somebody's own value reaches an NPU just when another arrival of that reduction does.
Mutant race(const Instance& instance, const Schedule& schedule, Rng& rng) {
    Patient p(instance, schedule, rng);
    const Send* send = p.pick_send([&](const Send& s) {
        return instance.demand(s.chunk).reduction && p.topology.is_npu(p.to(s)) &&
               p.topology.is_npu(p.from(s));
    });
    if (send == nullptr) return std::nullopt;
    const auto start_on = [&](LinkId id) {
        return p.arrival(*send) - instance.alpha(id) - instance.beta(id, send->chunk);
    };
    const auto link = p.pick_link([&](LinkId id) {
        const Link& there = p.topology.link(id);
        return there.dst == p.to(*send) && id != send->link && p.is_holder(there.src, send->chunk) &&
               start_on(id) >= instance.release(send->chunk, there.src);
    });
    if (!link) return std::nullopt;
    p.sends().push_back({send->chunk, *link, start_on(*link), Op::Copy});
    return p.schedule;
}

}  // namespace

std::span<const Mutation> catalogue() {
    using enum Rule;
    static const std::array<Mutation, 27> kMutations{{
        {"drop a send", {NotHeld, CutThrough, DemandUnmet, DemandWrong}, false, drop_send},
        {"move a send earlier",
         {NotHeld, LinkOverlap, BeforeRelease, CutThrough, DemandWrong},
         false,
         move_earlier},
        {"move a send later, so that its follower starves", {NotHeld, DemandWrong}, false, starve_follower},
        {"send another chunk", {NotHeld, CutThrough, DemandUnmet, DemandWrong}, false, swap_chunk},
        {"send over another link", {NotHeld, CutThrough, DemandUnmet, DemandWrong}, false, swap_link},
        {"deliver to the wrong rank", {NotHeld, DemandUnmet, DemandWrong}, false, deliver_to_wrong_rank},
        {"exchange the starts of two sends",
         {NotHeld, LinkOverlap, CutThrough, BeforeRelease},
         false,
         exchange_starts},
        {"overlap two sends on a link", {LinkOverlap}, true, overlap_two},
        {"send twice at once", {LinkOverlap}, true, send_twice_at_once},
        {"repeat a reduce", {DoubleCount}, true, repeat_reduce},
        {"reduce where a copy was meant", {DoubleCount}, false, reduce_instead_of_copy},
        {"copy where a reduce was meant",
         {DemandWrong, ArrivalRace, DoubleCount},
         false,
         copy_instead_of_reduce},
        {"overwrite a sum", {DemandWrong}, true, overwrite_sum},
        {"claim a smaller makespan", {MakespanMismatch}, true, claim_less, true},
        {"claim a larger makespan", {MakespanMismatch}, true, claim_more, true},
        {"visit an outsider of the group", {RelayForbidden}, true, visit_outsider},
        {"copy at a switch that does not", {SwitchCopy}, true, copy_at_switch},
        {"copy at a crossbar that does not", {SwitchCopy}, true, copy_at_crossbar},
        {"reduce at a switch that does not", {SwitchReduce}, true, reduce_at_switch},
        {"overflow a buffer", {BufferOverflow}, true, overflow_buffer},
        {"miss the moment of a crossbar", {CutThrough}, true, miss_crossbar},
        {"drop the onward half at a crossbar", {CutThrough}, true, drop_onward_half},
        {"send before the release", {BeforeRelease}, true, send_before_release},
        {"name an unknown chunk", {UnknownChunk}, true, name_unknown_chunk},
        {"name an unknown link", {UnknownLink}, true, name_unknown_link},
        {"start before tick 0 or after tick 2^62", {BadStart}, true, start_before_time},
        {"race two arrivals", {ArrivalRace}, false, race},
    }};
    return kMutations;
}

}  // namespace tutti::mutants
