#include "batch/call.hpp"

#include "core/collective.hpp"
#include "timing/call_size.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace tutti::batch {
namespace {

/// What the rank that sends or gets most has, itself included.
std::uint64_t largest_buffer(const std::vector<std::vector<std::uint64_t>>& counts) {
    std::uint64_t most = 1;
    std::vector<std::uint64_t> received(counts.size(), 0);
    for (const auto& row : counts) {
        std::uint64_t sent = 0;
        for (std::size_t j = 0; j < row.size(); ++j) {
            sent += row[j];
            most = std::max(most, received[j] += row[j]);
        }
        most = std::max(most, sent);
    }
    return most;
}

std::size_t ranks_of(const Instance& instance, const Collective& collective) {
    return instance.groups()[collective.group.index()].members.size();
}

std::optional<std::uint64_t> bytes_of(const Instance& instance, const Collective& collective) {
    const auto chunks = chunks_of_call(collective, ranks_of(instance, collective));
    if (!chunks || collective.chunk_bytes.count <= 0) return std::nullopt;
    std::uint64_t bytes = 0;
    const auto each = static_cast<std::uint64_t>(collective.chunk_bytes.count);
    return __builtin_mul_overflow(*chunks, each, &bytes) ? std::nullopt : std::optional(bytes);
}

}  // namespace

std::optional<std::uint64_t> chunks_of_call(const Collective& collective, std::size_t ranks) {
    using enum CollectiveKind;
    switch (collective.kind) {
        case Broadcast:
        case Reduce:
        case AllToNext:
        case Permute:
        case SendRecv:
            return collective.chunks;
        case Scatter:
        case Gather:
        case AllGather:
        case ReduceScatter:
        case AllReduce:
        case AllToAll:
            return collective.chunks * ranks;
        case AllToAllV:
            return largest_buffer(collective.counts);
        case Custom:
            break;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> bytes_of_call(const Instance& instance) {
    std::optional<std::uint64_t> all;
    for (const Collective& collective : instance.collectives()) {
        const auto bytes = bytes_of(instance, collective);
        if (!bytes || collective.kind != instance.collectives().front().kind || (all && *all != *bytes))
            return std::nullopt;
        all = bytes;
    }
    return all;
}

void enter(io::ResultLine& line, const Instance& instance) {
    const Topology& topology = instance.topology();
    line.instance = instance.name();
    line.npus = topology.npus();
    line.nodes = topology.nodes();
    line.links = topology.links().size();
    line.chunks = instance.chunks();
    line.units = topology.units() == Units::Physical ? "physical" : "abstract";
    std::set<std::size_t> groups, ranks;
    std::set<std::string_view> kinds;
    for (const Collective& collective : instance.collectives()) {
        groups.insert(collective.group.index());
        ranks.insert(ranks_of(instance, collective));
        kinds.insert(name_of(collective.kind));
    }
    line.groups = groups.size();
    line.ranks = ranks.size() == 1 ? *ranks.begin() : 0;
    line.collective = kinds.size() == 1 ? std::string(*kinds.begin()) : kinds.empty() ? "" : "mixed";
    line.bytes = bytes_of_call(instance);
}

void enter_bandwidths(io::ResultLine& line) {
    if (!line.bytes || !line.makespan || line.units != "physical") return;
    if (*line.bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return;
    line.algbw_GBps = timing::bandwidth_GBps({static_cast<std::int64_t>(*line.bytes)}, *line.makespan);
    const auto goal = kind_in_plan(line.collective);
    if (!line.algbw_GBps || !goal || line.ranks == 0) return;
    const auto factor = timing::bus_factor(*goal, static_cast<std::int32_t>(line.ranks));
    if (factor) line.busbw_GBps = *line.algbw_GBps * *factor;
}

}  // namespace tutti::batch
