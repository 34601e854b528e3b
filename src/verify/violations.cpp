#include "verify/violations.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

Violation violation(const NumberedSend& numbered, std::string message) {
    Violation v;
    v.message = std::move(message);
    v.sends = {numbered.position};
    v.tick = numbered.send.start;
    return v;
}

Violation violation_of(const NumberedSend& numbered, NodeId node, std::string message) {
    Violation v = violation(numbered, std::move(message));
    v.link = numbered.send.link;
    v.chunk = numbered.send.chunk;
    v.node = node;
    return v;
}

}  // namespace

bool names_are_known(const NumberedSend& numbered, const Instance& instance, Report& report) {
    const Send& send = numbered.send;
    const std::size_t links = instance.topology().links().size();
    const bool chunk = send.chunk.index() < instance.chunks();
    const bool link = send.link.index() < links;
    const bool start = send.start >= Ticks(0) && send.start <= kMaxStart;
    if (!chunk) {
        report.add(Rule::UnknownChunk, [&] {
            return violation(numbered, fmt::format("send {} names chunk {}, but the instance has {} chunks",
                                                   numbered.position, send.chunk.value(), instance.chunks()));
        });
    }
    if (!link) {
        report.add(Rule::UnknownLink, [&] {
            return violation(numbered, fmt::format("send {} names link {}, but the topology has {} links",
                                                   numbered.position, send.link.value(), links));
        });
    }
    if (!start) {
        report.add(Rule::BadStart, [&] {
            return violation(numbered, fmt::format("send {} starts at tick {}; expected 0 to 2^62",
                                                   numbered.position, send.start.count()));
        });
    }
    return chunk && link && start;
}

void report_out_of_order(const NumberedSend& numbered, Ticks now, Report& report) {
    report.add(Rule::OutOfOrder, [&] {
        return violation(numbered,
                         fmt::format("send {} starts at tick {}, after a send that starts at tick {}",
                                     numbered.position, numbered.send.start.count(), now.count()));
    });
}

void report_not_held(const NumberedSend& numbered, NodeId npu, Report& report) {
    report.add(Rule::NotHeld, [&] {
        return violation_of(
            numbered, npu,
            fmt::format("send {} takes chunk {} from NPU {} at tick {}, which does not hold it then",
                        numbered.position, numbered.send.chunk.value(), npu.value(),
                        numbered.send.start.count()));
    });
}

void report_before_release(const NumberedSend& numbered, NodeId npu, Ticks release, Report& report) {
    report.add(Rule::BeforeRelease, [&] {
        return violation_of(
            numbered, npu,
            fmt::format("send {} takes chunk {} from NPU {} at tick {}, before its release at tick {}",
                        numbered.position, numbered.send.chunk.value(), npu.value(),
                        numbered.send.start.count(), release.count()));
    });
}

void judge_forwarding(const NumberedSend& numbered, const Instance& instance, Report& report) {
    const Link& link = instance.topology().link(numbered.send.link);
    const CollectiveId collective = instance.demand(numbered.send.chunk).collective;
    for (const NodeId node : {link.src, link.dst}) {
        if (instance.may_carry(node, collective)) continue;
        report.add(Rule::RelayForbidden, [&] {
            return violation_of(
                numbered, node,
                fmt::format("send {} moves chunk {} of group '{}' through NPU {}, which is no member, but "
                            "forwarding is 'group'",
                            numbered.position, numbered.send.chunk.value(),
                            instance.group_of(numbered.send.chunk).name, node.value()));
        });
    }
}

void report_switch_reduce(const NumberedSend& numbered, NodeId node, Report& report) {
    report.add(Rule::SwitchReduce, [&] {
        return violation_of(numbered, node,
                            fmt::format("send {} is a reduce into switch {}, which does not reduce",
                                        numbered.position, node.value()));
    });
}

void report_double_count(const Arrival& arrival, NodeId npu, Report& report) {
    report.add(Rule::DoubleCount, [&] {
        Violation v = violation_of(
            arrival.numbered, npu,
            fmt::format("send {} adds to chunk {} at NPU {} a contribution that is in it already",
                        arrival.numbered.position, arrival.numbered.send.chunk.value(), npu.value()));
        v.tick = arrival.tick;
        return v;
    });
}

void report_race(std::span<const Arrival* const> arrivals, const Topology& topology, Report& report) {
    report.add(Rule::ArrivalRace, [&] {
        const Arrival& first = *arrivals.front();
        const NodeId node = topology.link(first.numbered.send.link).dst;
        Violation v = violation_of(
            first.numbered, node,
            fmt::format("chunk {} reaches {} several times at tick {}, once as a copy: the result depends on "
                        "the order",
                        first.numbered.send.chunk.value(), name_of(topology, node), first.tick.count()));
        v.sends.clear();
        for (const Arrival* arrival : arrivals) v.sends.push_back(arrival->numbered.position);
        v.tick = first.tick;
        return v;
    });
}

}  // namespace tutti::verify
