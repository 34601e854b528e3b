// From a schedule to an execution plan of MSCCL++: one call for each pass. Where chunks lie, what goes
// together and on which connection is decided as for MSCCL; how it is said is not.

#include "compile/execution_lowering.hpp"

#include "compile/condition.hpp"
#include "compile/execution/schedule_draft.hpp"
#include "compile/msccl/passes.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace tutti::compile {
namespace {

std::string_view file_name(CollectiveKind goal) {
    return goal == CollectiveKind::ReduceScatter ? "reducescatter" : plan_name_of(goal);
}

/// The executor has no limits of what MSCCL's runtimes limit, but its own, which the passes keep.
constexpr MscclLimits kNoLimits{.steps = std::numeric_limits<int>::max(),
                                .blocks = std::numeric_limits<int>::max(),
                                .blocks_per_channel = std::numeric_limits<int>::max(),
                                .channels = std::numeric_limits<int>::max(),
                                .count = std::numeric_limits<int>::max(),
                                .no_max_bytes = 0,
                                .max_bytes_inclusive = true,
                                .algorithms = 0};

void check_kind(CollectiveKind kind) {
    if (kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
        kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll) {
        return;
    }
    throw InputError(
        fmt::format("execution plans of MSCCL++ are for all_reduce, all_gather, reduce_scatter and "
                    "all_to_all; '{}' is none of them",
                    name_of(kind)));
}

/// In place, input and output of a plan without a name start at the same place. So only where each chunk has
/// the same place in both can it be the collective that the group would call in place.
bool in_place_of(const ExecutionOptions& options, const Places& places, CollectiveKind kind) {
    if (!places.has_relays()) return options.in_place.value_or(kind != CollectiveKind::AllToAll);
    const bool possible = kind == CollectiveKind::AllReduce;
    if (options.in_place.value_or(false) && !possible) {
        throw InputError(
            fmt::format("{} of the plan's {} ranks are relays outside the group; with relays only an "
                        "all_reduce can be had "
                        "in place, and {} out of place (--mode out-of-place)",
                        places.ranks() - places.members(), places.ranks(), name_of(kind)));
    }
    return options.in_place.value_or(possible);
}

}  // namespace

ExecutionResult lower_to_execution_plan(const Instance& instance, const Schedule& schedule,
                                        CollectiveId collective, const ExecutionOptions& options) {
    const CollectiveKind kind = instance.collective(collective).kind;
    check_kind(kind);
    if (options.channel == plan::ChannelType::Switch) {
        throw InputError("execution plans are written for memory or port channels, not for switch channels");
    }
    Part part = part_of(instance, schedule, collective);
    const Places places(instance, part);
    const bool in_place = in_place_of(options, places, kind);
    const MscclOptions modes{.in_place = in_place, .out_of_place = !in_place};
    msccl::Draft moves{part, places, modes, plan::Target::Mscclpp, kNoLimits};
    // The results of an all-to-all lie where other chunks' inputs do.
    moves.results_last = in_place && kind == CollectiveKind::AllToAll;
    // Where every chunk is read and kept.
    msccl::find_addresses(moves);
    // Neighbouring chunks that no receiver needs one by one are moved together.
    msccl::form_transfers(moves, kNoLimits.count);
    // Transfers are dealt out to connections, in order of time on each.
    msccl::form_lanes(moves, {.lane_length = msccl::kNone});
    // What comes in and goes on is the work of one thread block.
    msccl::fuse(moves, true, false);
    // Where messages are put, and what each rank does in which order.
    execution::Draft draft = execution::draft_of(moves, in_place, options.channel);
    // Thread blocks, then channels and operations.
    execution::form_blocks(draft);
    ExecutionResult result{.plan = execution::assemble(draft)};
    plan::ExecutionPlan& plan = result.plan;
    plan.name = options.name.empty()
                    ? fmt::format("{} {}", instance.name(), instance.collective(collective).id)
                    : options.name;
    plan.collective = file_name(places.goal());
    plan.min_bytes = options.min_bytes.value_or(plan.min_bytes);
    plan.max_bytes = options.max_bytes.value_or(plan.max_bytes);
    if (places.has_relays()) result.condition = condition_of(part, places);
    result.npus = std::move(part.npus);
    result.members = part.members;
    return result;
}

}  // namespace tutti::compile
