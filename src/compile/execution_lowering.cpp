// From a schedule to an execution plan of MSCCL++: one call for each pass.

#include "compile/execution_lowering.hpp"

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

}  // namespace

plan::ExecutionPlan lower_to_execution_plan(const Instance& instance, const Schedule& schedule,
                                            CollectiveId collective, const ExecutionOptions& options) {
    const Places places(instance, collective);
    const CollectiveKind goal = places.goal();
    if (goal != CollectiveKind::AllReduce && goal != CollectiveKind::AllGather &&
        goal != CollectiveKind::ReduceScatter && goal != CollectiveKind::AllToAll) {
        throw InputError(
            fmt::format("execution plans of MSCCL++ are for all_reduce, all_gather, reduce_scatter and "
                        "all_to_all; '{}' is none of them",
                        name_of(instance.collective(collective).kind)));
    }
    if (options.channel == plan::ChannelType::Switch) {
        throw InputError("execution plans are written for memory or port channels, not for switch channels");
    }
    const Part part = part_of(instance, schedule, collective);
    execution::Draft draft{part,
                           places,
                           options.in_place.value_or(goal != CollectiveKind::AllToAll),
                           options.channel,
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}};
    execution::form_units(draft);
    execution::choose_landings(draft);
    execution::form_blocks(draft);
    check_blocks(draft);
    plan::ExecutionPlan plan = execution::assemble(draft);
    plan.name = options.name.empty()
                    ? fmt::format("{} {}", instance.name(), instance.collective(collective).id)
                    : options.name;
    plan.collective = file_name(goal);
    plan.min_bytes = options.min_bytes.value_or(plan.min_bytes);
    plan.max_bytes = options.max_bytes.value_or(plan.max_bytes);
    return plan;
}

}  // namespace tutti::compile
