#include "tests/support/spread_case.hpp"

#include "bounds/bounds.hpp"
#include "verify/schedule_verifier.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::test {

using heuristics::SpreadSolution;

SpreadCase::SpreadCase(InstanceParts parts)
    : instance(std::move(parts)),
      graph(instance),
      problem{graph, {}, heuristics::LinkCalendar(instance.topology().links().size()), Ticks(0)} {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        const Demand demand = instance.demand(chunk);
        problem.spreads.push_back({chunk, demand.holders, instance.last_release(chunk), demand.receivers});
    }
    problem.target = bounds::simple_bounds(instance).front().value;
}

Schedule SpreadCase::schedule(const SpreadSolution& solution) const {
    Schedule schedule{instance.name(), solution.makespan, {}};
    std::vector<heuristics::LegTime> legs;
    for (const auto& [hop, chunk, start] : solution.transfers) {
        graph.leg_times(hop, chunk, legs);
        for (const auto& leg : legs) {
            schedule.sends.push_back({chunk, leg.link, start + leg.offset, Op::Copy});
        }
    }
    std::ranges::sort(schedule.sends, starts_before);
    return schedule;
}

bool SpreadCase::is_valid(const std::optional<SpreadSolution>& solution) const {
    return solution && verify::verify(instance, schedule(*solution)).valid();
}

InstanceParts without_reductions(InstanceParts parts) {
    std::erase_if(parts.collectives, [](const Collective& collective) {
        using enum CollectiveKind;
        return collective.kind == Reduce || collective.kind == ReduceScatter ||
               collective.kind == AllReduce ||
               std::ranges::any_of(collective.demands, &CustomDemand::reduction);
    });
    return parts;
}

InstanceParts scattered_groups(TopologyParts topology, std::size_t groups, std::size_t size,
                               const std::vector<CollectiveKind>& kinds, Rng& rng) {
    InstanceParts parts;
    parts.name = "scattered groups";
    std::vector<std::size_t> npus(topology.npus);
    parts.topology = std::move(topology);
    std::iota(npus.begin(), npus.end(), std::size_t{0});
    rng.shuffle(npus);
    for (std::size_t g = 0; g < groups; ++g) {
        const std::string name = "g" + std::to_string(g);
        Group group{name, {}};
        for (std::size_t i = 0; i < size; ++i) group.members.emplace_back(npus[g * size + i]);
        Collective collective;
        collective.id = name;
        collective.kind = kinds[g % kinds.size()];
        collective.group = GroupId(g);
        parts.groups.push_back(std::move(group));
        parts.collectives.push_back(std::move(collective));
    }
    return parts;
}

}  // namespace tutti::test
