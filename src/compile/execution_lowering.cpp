// From a schedule to an execution plan of MSCCL++: one call for each pass.

#include "compile/execution_lowering.hpp"

#include "compile/condition.hpp"
#include "compile/execution/draft.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::compile {
namespace {

std::string_view file_name(CollectiveKind goal) {
    return goal == CollectiveKind::ReduceScatter ? "reducescatter" : plan_name_of(goal);
}

void check_blocks(const execution::Draft& draft) {
    std::vector<std::uint32_t> blocks(draft.part.ranks, 0);
    for (const execution::Block& block : draft.blocks) ++blocks[block.rank];
    const auto most = std::ranges::max_element(blocks);
    if (most == blocks.end() || *most <= kMostExecutionBlocks) return;
    throw InputError(
        fmt::format("an execution plan of this schedule needs {} thread blocks on rank {}, each for {} "
                    "messages; at most {} can run at once",
                    *most, most - blocks.begin(), execution::kMostMessages, kMostExecutionBlocks));
}

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
    execution::Draft draft{
        part, places, in_place_of(options, places, kind), options.channel, {}, {}, {}, {}, {}, {}, {}};
    execution::form_units(draft);
    execution::choose_landings(draft);
    execution::form_blocks(draft);
    check_blocks(draft);
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
