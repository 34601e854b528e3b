#include "synth/composition.hpp"

#include <algorithm>

namespace tutti::synth {
namespace {

InstanceParts with_kind(const Instance& instance, CollectiveKind kind, bool released) {
    InstanceParts parts{instance.name(), instance.topology().parts(), instance.groups(),
                        instance.collectives()};
    for (Collective& collective : parts.collectives) {
        collective.kind = kind;
        if (!released) set_release(collective, Ticks(0));
    }
    return parts;
}

}  // namespace

std::optional<Halves> halves_of(const Instance& instance) {
    const bool all = std::ranges::all_of(instance.collectives(), [](const Collective& collective) {
        return collective.kind == CollectiveKind::AllReduce;
    });
    if (!all) return std::nullopt;
    return Halves{Instance(with_kind(instance, CollectiveKind::ReduceScatter, true)),
                  Instance(with_kind(instance, CollectiveKind::AllGather, false))};
}

Schedule joined(const Instance& instance, const Schedule& reduce_scatter, const Schedule& all_gather) {
    Schedule schedule{instance.name(), reduce_scatter.makespan + all_gather.makespan, reduce_scatter.sends};
    for (Send send : all_gather.sends) {
        send.start += reduce_scatter.makespan;
        schedule.sends.push_back(send);
    }
    if (all_gather.sends.empty()) schedule.makespan = reduce_scatter.makespan;
    std::ranges::sort(schedule.sends, starts_before);
    return schedule;
}

}  // namespace tutti::synth
