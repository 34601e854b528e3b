#include "plan/call_sizes.hpp"

namespace tutti::plan {

CollectiveKind stated_goal(const MscclPlan& plan) {
    return kind_in_plan(plan.collective.value_or("none")).value_or(CollectiveKind::Custom);
}

CollectiveKind stated_goal(const ExecutionPlan& plan) {
    using enum CollectiveKind;
    const CollectiveKind named = kind_in_plan(plan.collective).value_or(Custom);
    const bool known = named == AllReduce || named == AllGather || named == ReduceScatter ||
                       named == AllToAll || named == SendRecv;
    return known ? named : Custom;
}

SizeRatio size_ratio(CollectiveKind goal, std::int64_t ranks) {
    switch (goal) {
        case CollectiveKind::AllGather:
        case CollectiveKind::Gather:
            return {ranks, 1};
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::Scatter:
            return {1, ranks};
        default:
            return {1, 1};
    }
}

std::optional<CallSizes> call_sizes(const MscclPlan& plan, CollectiveKind goal) {
    const std::int64_t chunks = plan.chunks_per_loop, ranks = plan.ranks;
    const bool divides = chunks % ranks == 0;
    const auto declares_at_most = [&](std::int32_t Gpu::*size) {
        return std::ranges::all_of(plan.gpus, [&](const Gpu& gpu) { return gpu.*size <= chunks; });
    };
    CallSizes sizes{goal, chunks, chunks, chunks};
    switch (goal) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::Broadcast:
        case CollectiveKind::Reduce:
        case CollectiveKind::AllToNext:
        case CollectiveKind::SendRecv:
            return sizes;
        case CollectiveKind::AllToAll:
            sizes.share = chunks / ranks;
            break;
        case CollectiveKind::AllGather:
            sizes.share = sizes.input = chunks / ranks;
            break;
        case CollectiveKind::ReduceScatter:
            sizes.share = sizes.output = chunks / ranks;
            break;
        // Files of these two count the chunks of a share, or (SCCL) those of the root's buffer.
        case CollectiveKind::Gather:
            if (divides && declares_at_most(&Gpu::output_chunks)) sizes.share = chunks / ranks;
            sizes.input = sizes.share;
            sizes.output = sizes.share * ranks;
            return sizes;
        case CollectiveKind::Scatter:
            if (divides && declares_at_most(&Gpu::input_chunks)) sizes.share = chunks / ranks;
            sizes.output = sizes.share;
            sizes.input = sizes.share * ranks;
            return sizes;
        case CollectiveKind::AllToAllV:
        case CollectiveKind::Permute:
        case CollectiveKind::Custom:
            return CallSizes{CollectiveKind::Custom, chunks, chunks, 0};
    }
    if (!divides) return std::nullopt;
    return sizes;
}

CallSizes call_sizes(const ExecutionPlan& plan, CollectiveKind goal) {
    CallSizes sizes{goal, 0, 0, 0};
    for (const ExecutionGpu& gpu : plan.gpus) {
        sizes.input = std::max(sizes.input, gpu.input_chunks);
        sizes.output = std::max(sizes.output, gpu.output_chunks);
    }
    if (goal == CollectiveKind::Custom) return sizes;
    const auto ranks = static_cast<std::int64_t>(plan.gpus.size());
    const SizeRatio ratio = size_ratio(goal, ranks);
    if (plan.in_place && sizes.input == 0) sizes.input = sizes.output * ratio.input / ratio.output;
    if (plan.in_place && sizes.output == 0) sizes.output = sizes.input * ratio.output / ratio.input;
    sizes.share =
        goal == CollectiveKind::AllToAll ? sizes.input / ranks : std::min(sizes.input, sizes.output);
    return sizes;
}

}  // namespace tutti::plan
