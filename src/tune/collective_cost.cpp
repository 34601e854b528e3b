// What a collective call costs is the makespan of the schedule that we synthesize for it on the user's
// network, broken links included, and for all groups of its axes at once, because they share the links. Finer
// chunks are often worth more than a better schedule of coarse ones (a gap of 0 % says only that the schedule
// is the best for its chunks), so several numbers of chunks are tried. Rank sums are of the heuristics, which
// are fast; the solvers refine what is chosen in the end.

#include "tune/collective_cost.hpp"

#include "synth/synthesize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace tutti::tune {
namespace {

using tensor::Op;

constexpr std::array<std::uint64_t, 4> kChunks{1, 2, 4, 6};

/// All ranks that differ on the axes only, in their order; for every place on the other axes.
std::vector<std::vector<NodeId>> groups_of(const tensor::Mesh& mesh,
                                           const std::vector<tensor::AxisId>& axes) {
    std::map<std::vector<std::int64_t>, std::vector<NodeId>> groups;
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        std::vector<std::int64_t> place = mesh.coordinates(rank);
        for (const tensor::AxisId axis : axes) place[axis.index()] = 0;
        groups[place].push_back(NodeId(mesh.device(rank)));
    }
    std::vector<std::vector<NodeId>> list;
    for (auto& [place, members] : groups) list.push_back(std::move(members));
    return list;
}

CollectiveKind kind_of_call(const Call& call) {
    switch (call.op) {
        case Op::AllReduce:
            return CollectiveKind::AllReduce;
        case Op::ReduceScatter:
            return CollectiveKind::ReduceScatter;
        case Op::AllGather:
            return CollectiveKind::AllGather;
        case Op::ReduceTo:
            return CollectiveKind::Reduce;
        case Op::BroadcastFrom:
            return CollectiveKind::Broadcast;
        case Op::AllToAll:
            return CollectiveKind::AllToAll;
        default:
            return call.by == 1 ? CollectiveKind::AllToNext : CollectiveKind::Permute;
    }
}

void add_call(InstanceParts& parts, const tensor::Mesh& mesh, const Call& call, std::uint64_t chunks,
              Ticks release) {
    const auto ranks = static_cast<std::uint64_t>(mesh.group_size(call.axes));
    const std::uint64_t shares = ranks * chunks;
    Collective collective;
    collective.kind = kind_of_call(call);
    // Kinds whose data have no shares move as many chunks of the same size.
    const bool has_shares =
        collective.kind != CollectiveKind::Broadcast && collective.kind != CollectiveKind::Reduce &&
        collective.kind != CollectiveKind::AllToNext && collective.kind != CollectiveKind::Permute;
    collective.chunks = has_shares ? chunks : shares;
    collective.chunk_bytes = Bytes(std::max<std::int64_t>(
        1, (call.bytes + static_cast<std::int64_t>(shares) - 1) / static_cast<std::int64_t>(shares)));
    if (has_root(collective.kind)) collective.root = Rank(static_cast<std::uint32_t>(call.root));
    if (collective.kind == CollectiveKind::Permute) {
        for (std::int64_t from = 0; from < static_cast<std::int64_t>(ranks); ++from) {
            const std::int64_t to = from + call.by;
            if (to < 0 || to >= static_cast<std::int64_t>(ranks)) continue;
            collective.pairs.emplace_back(Rank(static_cast<std::uint32_t>(from)),
                                          Rank(static_cast<std::uint32_t>(to)));
        }
    }
    set_release(collective, release);
    const std::vector<std::vector<NodeId>> groups = groups_of(mesh, call.axes);
    for (const std::vector<NodeId>& members : groups) {
        const auto known =
            std::ranges::find_if(parts.groups, [&](const Group& group) { return group.members == members; });
        const auto index = static_cast<std::size_t>(known - parts.groups.begin());
        if (known == parts.groups.end()) parts.groups.push_back({fmt::format("group{}", index), members});
        collective.group = GroupId(static_cast<std::uint32_t>(index));
        collective.id = fmt::format("{}{}", name_of(call.op), parts.collectives.size());
        parts.collectives.push_back(collective);
    }
}

std::uint64_t bytes_on_wires(const Instance& instance, const Schedule& schedule) {
    std::uint64_t bytes = 0;
    for (const Send& send : schedule.sends) {
        bytes += static_cast<std::uint64_t>(instance.demand(send.chunk).bytes.count);
    }
    return bytes;
}

Ticks busiest_link(const Instance& instance, const Schedule& schedule) {
    std::vector<Ticks> busy(instance.topology().links().size());
    for (const Send& send : schedule.sends)
        busy[send.link.index()] += instance.busy(send.link, instance.beta(send.link, send.chunk));
    return busy.empty() ? Ticks(0) : *std::ranges::max_element(busy);
}

}  // namespace

InstanceParts call_instance(const tensor::Mesh& mesh, const TopologyParts& topology, const Call& call,
                            std::uint64_t chunks) {
    InstanceParts parts{.name = fmt::format("{}-{}", name_of(call.op), call.bytes),
                        .topology = topology,
                        .groups = {},
                        .collectives = {}};
    for (std::int64_t piece = 0; piece < call.pieces; ++piece) {
        add_call(parts, mesh, call, chunks, call.pieces > 1 ? call.each * (piece + 1) : Ticks(0));
    }
    return parts;
}

CallSchedules::CallSchedules(const Topology& topology, tensor::Mesh mesh, Stop stop, Say say,
                             double seconds_each)
    : topology_(topology),
      mesh_(std::move(mesh)),
      estimates_(topology, mesh_),
      stop_(stop),
      say_(std::move(say)),
      seconds_each_(seconds_each) {
    if (topology.units() != Units::Physical) {
        throw InputError(
            "expected a topology in physical units (latency_ns, bandwidth_GBps): times are in microseconds");
    }
    for (std::int64_t rank = 0; rank < mesh_.ranks(); ++rank) {
        if (mesh_.device(rank) < topology.npus()) continue;
        throw InputError(fmt::format("the topology has {} NPUs; rank {} of the program's mesh is on NPU {}",
                                     topology.npus(), rank, mesh_.device(rank)));
    }
}

CallSchedule CallSchedules::synthesized(InstanceParts parts, std::uint64_t chunks, const char* method,
                                        double seconds) {
    CallSchedule made;
    made.chunks = chunks;
    made.instance = std::make_shared<const Instance>(std::move(parts));
    synth::Request request;
    request.method = method;
    request.stop = stop_.within(Stop::Seconds(seconds));
    synth::Result result = synth::synthesize(*made.instance, request);
    ++syntheses_;
    made.makespan = result.schedule.makespan;
    if (result.symmetric) {
        throw LimitError("a schedule with too many sends to be held");
    }
    made.schedule = std::move(result.schedule);
    made.bound = std::move(result.bound);
    made.method = result.heuristic.empty() ? result.method : result.method + ", " + result.heuristic;
    made.wire_bytes = bytes_on_wires(*made.instance, made.schedule);
    made.busy = busiest_link(*made.instance, made.schedule);
    return made;
}

/// The heuristics go on for as long as they may, so they may not for long; large instances need more.
CallSchedule CallSchedules::quickly(const Call& call, std::uint64_t chunks) {
    constexpr double kMuchMore = 30;
    try {
        return synthesized(call_instance(mesh_, topology_.parts(), call, chunks), chunks, "greedy",
                           seconds_each_);
    } catch (const LimitError&) {
        if (stop_.requested()) throw;
        return synthesized(call_instance(mesh_, topology_.parts(), call, chunks), chunks, "greedy",
                           kMuchMore * seconds_each_);
    }
}

/// All for the first call of its kind; for other sizes of it what was best there, and the next coarser.
std::vector<std::uint64_t> CallSchedules::chunks_worth_trying(const Call& call) const {
    const auto same = std::ranges::find_if(answers_, [&](const auto& known) {
        const Call& other = known.first;
        return other.op == call.op && other.axes == call.axes && other.root == call.root &&
               other.by == call.by && known.second.instance != nullptr;
    });
    if (same == answers_.end()) return {kChunks.begin(), kChunks.end()};
    const auto best = std::ranges::find(kChunks, same->second.chunks);
    std::vector<std::uint64_t> list;
    if (best != kChunks.begin()) list.push_back(*(best - 1));
    list.push_back(*best);
    return list;
}

const CallSchedule& CallSchedules::of(const Call& call) {
    if (const auto known = answers_.find(call); known != answers_.end()) return known->second;
    CallSchedule best;
    if (mesh_.group_size(call.axes) > 1 && std::abs(call.by) < mesh_.group_size(call.axes)) {
        if (say_) say_("call     " + words_of(mesh_, call));
        for (const std::uint64_t chunks : chunks_worth_trying(call)) {
            const std::int64_t shares = mesh_.group_size(call.axes) * static_cast<std::int64_t>(chunks);
            if (best.instance != nullptr && (shares > call.bytes || stop_.requested())) break;
            try {
                CallSchedule made = quickly(call, chunks);
                if (best.instance == nullptr || made.makespan < best.makespan) best = std::move(made);
            } catch (const LimitError&) {
                if (best.instance == nullptr) throw;
                break;
            }
        }
    }
    return answers_.emplace(call, std::move(best)).first->second;
}

const Call* CallSchedules::most_alike(const Call& call) const {
    const auto unlike = [&](const Call& other) {
        const auto bytes = [](const Call& one) { return std::log(static_cast<double>(one.bytes)); };
        return std::pair(other.op != call.op, std::abs(bytes(other) - bytes(call)));
    };
    const Call* nearest = nullptr;
    for (const auto& [other, answer] : answers_) {
        if (other.axes != call.axes || other.pieces != 1 || answer.instance == nullptr) continue;
        if (nearest == nullptr || unlike(other) < unlike(*nearest)) nearest = &other;
    }
    return nearest;
}

double CallSchedules::estimated_us(const Call& call) const {
    if (const auto known = answers_.find(call); known != answers_.end()) return known->second.us();
    const double us = estimates_.us(call);
    const Call* const nearest = most_alike(call);
    const double guessed = nearest == nullptr ? 0 : estimates_.us(*nearest);
    return guessed > 0 ? us * answers_.at(*nearest).us() / guessed : us;
}

double CallSchedules::estimated_busy_us(const Call& call) const {
    if (const auto known = answers_.find(call); known != answers_.end()) return known->second.busy_us();
    const double us = estimates_.busy_us(call);
    const Call* const nearest = most_alike(call);
    const double guessed = nearest == nullptr ? 0 : estimates_.busy_us(*nearest);
    return guessed > 0 ? us * answers_.at(*nearest).busy_us() / guessed : us;
}

const CallSchedule& CallSchedules::refined(const Call& call, double seconds) {
    (void)of(call);
    CallSchedule& best = answers_.at(call);
    if (best.instance == nullptr || stop_.requested() || !refined_.emplace(call, true).second) return best;
    if (best.makespan == best.bound.value) return best;
    try {
        CallSchedule made = synthesized(call_instance(mesh_, topology_.parts(), call, best.chunks),
                                        best.chunks, "auto", seconds);
        if (made.makespan < best.makespan ||
            (made.makespan == best.makespan && made.bound.value > best.bound.value))
            best = std::move(made);
    } catch (const LimitError&) {  // the heuristics' schedule stays
    }
    return best;
}

}  // namespace tutti::tune
