#include "verify/violations.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

Violation violation(const Placed& placed, std::string message) {
    Violation v;
    v.message = std::move(message);
    v.sends = {placed.position};
    v.tick = placed.send.start;
    return v;
}

Violation violation_of(const Placed& placed, NodeId node, std::string message) {
    Violation v = violation(placed, std::move(message));
    v.link = placed.send.link;
    v.chunk = placed.send.chunk;
    v.node = node;
    return v;
}

}  // namespace

bool names_are_known(const Placed& placed, const Instance& instance, Report& report) {
    const Send& send = placed.send;
    const std::size_t links = instance.topology().links().size();
    const bool chunk = send.chunk.index() < instance.chunks();
    const bool link = send.link.index() < links;
    const bool start = send.start >= Ticks(0) && send.start <= kMaxStart;
    if (!chunk) {
        report.add(Rule::UnknownChunk, [&] {
            return violation(placed, fmt::format("send {} names chunk {}, but the instance has {} chunks",
                                                 placed.position, send.chunk.value(), instance.chunks()));
        });
    }
    if (!link) {
        report.add(Rule::UnknownLink, [&] {
            return violation(placed, fmt::format("send {} names link {}, but the topology has {} links",
                                                 placed.position, send.link.value(), links));
        });
    }
    if (!start) {
        report.add(Rule::BadStart, [&] {
            return violation(placed, fmt::format("send {} starts at tick {}; expected 0 to 2^62",
                                                 placed.position, send.start.count()));
        });
    }
    return chunk && link && start;
}

void report_out_of_order(const Placed& placed, Ticks now, Report& report) {
    report.add(Rule::OutOfOrder, [&] {
        return violation(placed, fmt::format("send {} starts at tick {}, after a send that starts at tick {}",
                                             placed.position, placed.send.start.count(), now.count()));
    });
}

void report_not_held(const Placed& placed, NodeId npu, Report& report) {
    report.add(Rule::NotHeld, [&] {
        return violation_of(
            placed, npu,
            fmt::format("send {} takes chunk {} from NPU {} at tick {}, which does not hold it then",
                        placed.position, placed.send.chunk.value(), npu.value(), placed.send.start.count()));
    });
}

void report_before_release(const Placed& placed, NodeId npu, Ticks release, Report& report) {
    report.add(Rule::BeforeRelease, [&] {
        return violation_of(
            placed, npu,
            fmt::format("send {} takes chunk {} from NPU {} at tick {}, before its release at tick {}",
                        placed.position, placed.send.chunk.value(), npu.value(), placed.send.start.count(),
                        release.count()));
    });
}

void judge_forwarding(const Placed& placed, const Instance& instance, Report& report) {
    const Link& link = instance.topology().link(placed.send.link);
    const CollectiveId collective = instance.demand(placed.send.chunk).collective;
    for (const NodeId node : {link.src, link.dst}) {
        if (instance.may_carry(node, collective)) continue;
        report.add(Rule::RelayForbidden, [&] {
            return violation_of(
                placed, node,
                fmt::format("send {} moves chunk {} of group '{}' through NPU {}, which is no member, but "
                            "forwarding is 'group'",
                            placed.position, placed.send.chunk.value(),
                            instance.group_of(placed.send.chunk).name, node.value()));
        });
    }
}

void report_switch_reduce(const Placed& placed, NodeId node, Report& report) {
    report.add(Rule::SwitchReduce, [&] {
        return violation_of(placed, node,
                            fmt::format("send {} is a reduce into switch {}, which does not reduce",
                                        placed.position, node.value()));
    });
}

void report_double_count(const Arrival& arrival, NodeId npu, Report& report) {
    report.add(Rule::DoubleCount, [&] {
        Violation v = violation_of(
            arrival.placed, npu,
            fmt::format("send {} adds to chunk {} at NPU {} a contribution that is in it already",
                        arrival.placed.position, arrival.placed.send.chunk.value(), npu.value()));
        v.tick = arrival.tick;
        return v;
    });
}

void report_race(std::span<const Arrival* const> arrivals, const Topology& topology, Report& report) {
    report.add(Rule::ArrivalRace, [&] {
        const Arrival& first = *arrivals.front();
        const NodeId node = topology.link(first.placed.send.link).dst;
        Violation v = violation_of(
            first.placed, node,
            fmt::format("chunk {} reaches {} several times at tick {}, once as a copy: the result depends on "
                        "the order",
                        first.placed.send.chunk.value(), name_of(topology, node), first.tick.count()));
        v.sends.clear();
        for (const Arrival* arrival : arrivals) v.sends.push_back(arrival->placed.position);
        v.tick = first.tick;
        return v;
    });
}

}  // namespace tutti::verify
