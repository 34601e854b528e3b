#include "core/collective_result.hpp"

#include "core/call.hpp"
#include "core/expects.hpp"

#include <algorithm>

namespace tutti {
namespace {

std::size_t ranks_of(const Instance& instance, const Collective& collective) {
    return instance.groups()[collective.group.index()].members.size();
}

}  // namespace

std::vector<CollectiveResult> collective_results(const Instance& instance, std::span<const Ticks> finish,
                                                 std::optional<Bytes> asked) {
    expects(finish.size() == instance.collectives().size());
    const bool physical = instance.topology().units() == Units::Physical;
    std::vector<CollectiveResult> results;
    results.reserve(finish.size());
    for (std::size_t i = 0; i < finish.size(); ++i) {
        const Collective& collective = instance.collectives()[i];
        const Group& group = instance.groups()[collective.group.index()];
        const std::size_t ranks = group.members.size();
        CollectiveResult& result = results.emplace_back(CollectiveResult{
            collective.id, collective.kind, group.name, ranks, collective.release, finish[i]});
        const auto bytes = asked ? asked : call_bytes(collective, ranks);
        if (!bytes) continue;
        result.bytes = static_cast<std::uint64_t>(bytes->count);
        if (!physical) continue;
        result.algbw_GBps = bandwidth_GBps(*bytes, finish[i] - collective.release);
        const auto factor = bus_factor(collective.kind, ranks);
        if (result.algbw_GBps && factor) result.busbw_GBps = *result.algbw_GBps * *factor;
    }
    return results;
}

std::optional<Bytes> call_bytes(const Instance& instance, std::optional<Bytes> asked) {
    if (asked) return asked;
    std::optional<Bytes> all;
    for (const Collective& collective : instance.collectives()) {
        const auto bytes = call_bytes(collective, ranks_of(instance, collective));
        if (!bytes || collective.kind != instance.collectives().front().kind || (all && *all != *bytes))
            return std::nullopt;
        all = bytes;
    }
    return all;
}

Bandwidths bandwidths_of(const Instance& instance, Ticks makespan, std::optional<Bytes> asked) {
    const auto bytes = call_bytes(instance, asked);
    if (!bytes || instance.topology().units() != Units::Physical) return {};
    Bandwidths bandwidths{bandwidth_GBps(*bytes, makespan)};
    const Collective& first = instance.collectives().front();
    const std::size_t ranks = ranks_of(instance, first);
    const bool alike = std::ranges::all_of(instance.collectives(), [&](const Collective& collective) {
        return collective.kind == first.kind && ranks_of(instance, collective) == ranks;
    });
    const auto factor = alike ? bus_factor(first.kind, ranks) : std::nullopt;
    if (bandwidths.algbw_GBps && factor) bandwidths.busbw_GBps = *bandwidths.algbw_GBps * *factor;
    return bandwidths;
}

}  // namespace tutti
