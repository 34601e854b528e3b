#include "synth/baselines.hpp"

#include <algorithm>

namespace tutti::synth {
namespace {

InstanceParts parts_of(const Instance& instance) {
    return {instance.name(), instance.topology().parts(), instance.groups(), instance.collectives()};
}

Ticks greedy_makespan(const Instance& instance, Request request) {
    request.method = "greedy";
    request.story = {};
    request.tap = {};
    return synthesize(instance, request).schedule.makespan;
}

template <class Compute>
Baseline baseline(Compute compute) {
    try {
        return {compute(), false, {}};
    } catch (const InfeasibleError& error) {
        return {std::nullopt, true, error.what()};
    } catch (const LimitError& error) {
        return {std::nullopt, false, error.what()};
    }
}

}  // namespace

Baselines baselines(const Instance& instance, const Request& request) {
    const auto members_only = [&] {
        InstanceParts parts = parts_of(instance);
        for (Collective& collective : parts.collectives) collective.forwarding = Forwarding::Group;
        return greedy_makespan(Instance(std::move(parts)), request);
    };
    const auto one_after_another = [&] {
        Ticks end;
        for (Collective collective : instance.collectives()) {
            // What is later than the end of the one before stays so.
            end = std::max(end, collective.release);
            for (Ticks& release : collective.releases) release = std::max(release - end, Ticks(0));
            collective.release = Ticks(0);
            InstanceParts parts = parts_of(instance);
            parts.collectives = {std::move(collective)};
            end += greedy_makespan(Instance(std::move(parts)), request);
        }
        return end;
    };
    return {baseline(members_only), baseline(one_after_another)};
}

}  // namespace tutti::synth
