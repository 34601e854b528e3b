#include "timing/call_size.hpp"

#include "plan/call_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::timing {

std::uint64_t chunks_of_call(CollectiveKind goal, const plan::MscclPlan& plan) {
    const auto sizes = plan::call_sizes(plan, goal);
    return static_cast<std::uint64_t>(sizes ? sizes->larger() : plan.chunks_per_loop);
}

std::uint64_t chunks_of_call(CollectiveKind goal, const plan::ExecutionPlan& plan) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(plan::call_sizes(plan, goal).larger(), 1));
}

Bytes chunk_bytes(Bytes call, std::uint64_t chunks) {
    if (call.count < 1 || call > kMaxCallBytes) {
        throw InputError(
            fmt::format("expected a size from 1 to {} bytes, found {}", kMaxCallBytes.count, call.count));
    }
    return {(call.count - 1) / static_cast<std::int64_t>(chunks) + 1};
}

std::optional<double> bandwidth_GBps(Bytes call, Ticks makespan) {
    if (makespan <= Ticks(0)) return std::nullopt;
    return static_cast<double>(call.count) / static_cast<double>(makespan.count()) * 1000;
}

std::optional<double> bus_factor(CollectiveKind goal, std::int32_t ranks) {
    using enum CollectiveKind;
    const double n = ranks;
    switch (goal) {
        case AllReduce:
            return 2 * (n - 1) / n;
        case AllGather:
        case ReduceScatter:
        case AllToAll:
        case Gather:
        case Scatter:
            return (n - 1) / n;
        case Broadcast:
        case Reduce:
        case AllToNext:
        case SendRecv:
            return 1;
        case AllToAllV:
        case Permute:
        case Custom:
            break;
    }
    return std::nullopt;
}

}  // namespace tutti::timing
