#include "verify/exact_sums.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::verify {

Value ExactSums::value(NodeId npu, ChunkId chunk, Ticks tick) const {
    expects(is_open(chunk));
    const auto& [arrived, since] = sets_[tables_.chunk(chunk).slot][npu.index()];
    // What arrived at the first release or later was added to a value with the NPU's own in it, or replaced
    // it, unless the NPU is late.
    if (arrived && (!instance_.is_staggered(chunk) || since >= instance_.last_release(chunk))) return arrived;
    const auto holders = instance_.demand(chunk).holders;
    const auto found = std::ranges::lower_bound(holders, npu);
    if (found == holders.end() || *found != npu) return arrived;
    const Ticks release = instance_.release(chunk, npu);
    if (release > tick || (arrived && since >= release)) return arrived;
    const Value own = singleton(holders.size(), static_cast<std::size_t>(found - holders.begin()));
    return sum(arrived, own);
}

}  // namespace tutti::verify
