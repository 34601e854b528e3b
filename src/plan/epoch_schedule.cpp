#include "plan/epoch_schedule.hpp"

#include <set>

namespace tutti::plan {

bool is_whole(Volume volume) {
    return volume >= kWholeVolume - kVolumeTolerance && volume <= kWholeVolume + kVolumeTolerance;
}

std::span<const EpochDemand> gathered(const EpochSchedule& schedule) {
    return schedule.all_gathered ? std::span(*schedule.all_gathered) : std::span<const EpochDemand>{};
}

std::vector<PlanNode> ranks_of(const EpochSchedule& schedule) {
    std::set<PlanNode> ranks;
    for (const EpochFlow& flow : schedule.flows) ranks.insert(flow.origin);
    for (const EpochDemand& demand : schedule.demands) ranks.insert({demand.node, demand.origin});
    for (const EpochDemand& demand : gathered(schedule)) ranks.insert({demand.node, demand.origin});
    return {ranks.begin(), ranks.end()};
}

}  // namespace tutti::plan
