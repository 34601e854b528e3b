// The compiler from schedules to MSCCL plans: one call for each pass.
//
// Limits are met by trying: a thread block with too many steps halves the lanes; too many thread blocks make
// lanes share them, then make paths between two ranks share lanes. What still does not fit is refused with
// the number that was needed at last.

#include "compile/condition.hpp"
#include "compile/msccl/passes.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::compile {
namespace {

using namespace msccl;

std::int32_t most_in_a_step(const Draft& draft, MscclEffort effort) {
    if (effort == MscclEffort::Plain) return 1;
    return effort == MscclEffort::Short ? plan::fifo_capacity(draft.options.protocol) : draft.limits.count;
}

std::variant<plan::MscclPlan, Excess> attempt(Draft draft, MscclEffort effort, const Room& room) {
    // Several messages of neighbouring chunks become one transfer.
    form_transfers(draft, most_in_a_step(draft, effort));
    // Transfers are dealt out to connections, in order of time on each.
    form_lanes(draft, room);
    // What comes in and goes on is one step of one thread block.
    fuse(draft, effort == MscclEffort::Fused, room.pack);
    // Sums that are only passed on need no place.
    pack_scratch(draft);
    // Connections that share a thread block share a channel.
    if (const auto excess = choose_channels(draft)) return *excess;
    // Steps in order of time; each waits for what it must.
    return form_steps(draft);
}

/// More frugal than before; false: nothing is left to try.
bool tighten(Room& room, const Excess& excess) {
    switch (excess.of) {
        case Excess::Of::Steps:
            if (room.lane_length == 1) return false;
            room.lane_length /= 2;
            return true;
        case Excess::Of::Blocks:
        case Excess::Of::Channels:
        case Excess::Of::WaitedBlock:
            if (!room.pack) {
                room.pack = true;
            } else if (room.paths > 8) {
                room.paths = 8;
            } else if (room.paths > 1) {
                room.paths /= 2;
            } else {
                return false;
            }
            return true;
        case Excess::Of::Nodes:
        case Excess::Of::Offset:
            return false;
    }
    return false;
}

plan::MscclPlan fitted(const Draft& draft, MscclEffort effort) {
    Room room{.lane_length = static_cast<std::uint32_t>(draft.limits.steps)};
    if (effort == MscclEffort::Plain) room.in_flight = plan::fifo_capacity(draft.options.protocol);
    while (true) {
        auto result = attempt(draft, effort, room);
        if (auto* plan = std::get_if<plan::MscclPlan>(&result)) return std::move(*plan);
        const Excess& excess = std::get<Excess>(result);
        if (!tighten(room, excess)) throw InputError(text_of(excess, draft.target));
    }
}

std::string spelled(CollectiveKind goal, plan::Target target) {
    const bool unnamed = goal == CollectiveKind::Custom || goal == CollectiveKind::AllToNext ||
                         goal == CollectiveKind::SendRecv;
    if (unnamed) return "custom";
    if (goal == CollectiveKind::ReduceScatter && target != plan::Target::Msccl) return "reducescatter";
    return std::string(plan_name_of(goal));
}

/// The target asked for, if it knows the collective; without one, one that does.
plan::Target target_for(const Places& places, CollectiveKind kind, const MscclOptions& options) {
    const CollectiveKind goal = places.goal();
    const bool unnamed = spelled(goal, plan::Target::Msccl) == "custom";
    const plan::Target target =
        options.target.value_or(unnamed ? plan::Target::Msccl : plan::Target::MscclExecutor);
    const bool is_msccl = target == plan::Target::Msccl;
    if (is_msccl && (goal == CollectiveKind::Gather || goal == CollectiveKind::Scatter)) {
        throw InputError(
            fmt::format("the msccl runtime has no {}; --target msccl-executor has", name_of(kind)));
    }
    if (is_msccl || !unnamed) return target;
    if (!places.has_relays()) {
        throw InputError(fmt::format("{} has no custom collectives, so none for {}; --target msccl has",
                                     name_of(target), name_of(kind)));
    }
    throw InputError(fmt::format(
        "{} of the plan's {} ranks are relays outside the group, which makes it a custom collective, and {} "
        "has none; --target msccl has, and \"forwarding\": \"group\" in the instance keeps schedules inside "
        "the group where that is possible",
        places.ranks() - places.members(), places.ranks(), name_of(target)));
}

}  // namespace

MscclResult lower_to_msccl(const Instance& instance, const Schedule& schedule, CollectiveId id,
                           const MscclOptions& options, MscclEffort effort) {
    const Collective& collective = instance.collective(id);
    Part part = part_of(instance, schedule, id);
    const Places places(instance, part);
    const plan::Target target = target_for(places, collective.kind, options);
    Draft draft{part, places, options, target, limits_of(target)};
    // Where every chunk is read and written.
    find_addresses(draft);

    MscclResult result{.plan = fitted(draft, effort), .target = target, .effort = effort};
    plan::MscclPlan& plan = result.plan;
    plan.name = options.name.empty() ? fmt::format("{} {}", instance.name(), collective.id) : options.name;
    plan.protocol = options.protocol;
    plan.chunks_per_loop = static_cast<std::int32_t>(places.chunks_per_loop());
    plan.ranks = static_cast<std::int32_t>(places.ranks());
    plan.collective = spelled(places.goal(), target);
    plan.in_place = options.in_place;
    plan.out_of_place = options.out_of_place;
    plan.min_bytes = options.min_bytes.value_or(0);
    plan.max_bytes = options.max_bytes.value_or(draft.limits.no_max_bytes);
    if (*plan.collective == "custom") result.condition = condition_of(part, places);
    if (places.root() && !places.has_relays()) result.root = Rank(*places.root());
    result.npus = std::move(part.npus);
    result.members = part.members;
    return result;
}

std::optional<MscclResult> first_valid_msccl(const Instance& instance, const Schedule& schedule,
                                             CollectiveId collective, const MscclOptions& options,
                                             const MscclJudge& judge) {
    std::vector<MscclOptions> variants{options};
    if (options.in_place && options.out_of_place) {
        variants.push_back(options);
        variants.back().in_place = false;
    }
    for (const MscclOptions& modes : variants) {
        for (const auto effort :
             {MscclEffort::Fused, MscclEffort::Merged, MscclEffort::Short, MscclEffort::Plain}) {
            MscclResult result = lower_to_msccl(instance, schedule, collective, modes, effort);
            const plan::PlanClass verdict = judge(result);
            if (verdict == plan::PlanClass::Valid) return result;
            // Wrong values do not become right with larger FIFOs.
            if (verdict != plan::PlanClass::ValidIfBuffered) break;
        }
    }
    return std::nullopt;
}

}  // namespace tutti::compile
