#include "timing/call_size.hpp"

#include "plan/call_sizes.hpp"

#include <algorithm>

namespace tutti::timing {

std::uint64_t chunks_of_call(CollectiveKind goal, const plan::MscclPlan& plan) {
    const auto sizes = plan::call_sizes(plan, goal);
    return static_cast<std::uint64_t>(sizes ? sizes->larger() : plan.chunks_per_loop);
}

std::uint64_t chunks_of_call(CollectiveKind goal, const plan::ExecutionPlan& plan) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(plan::call_sizes(plan, goal).larger(), 1));
}

}  // namespace tutti::timing
