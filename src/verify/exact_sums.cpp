#include "verify/exact_sums.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::verify {

Value ExactSums::value(NodeId npu, ChunkId chunk) const {
    expects(is_open(chunk));
    const Value& arrived = sets_[tables_.chunk(chunk).slot][npu.index()];
    if (arrived) return arrived;
    const auto holders = instance_.demand(chunk).holders;
    const auto found = std::ranges::lower_bound(holders, npu);
    if (found == holders.end() || *found != npu) return nullptr;
    return singleton(holders.size(), static_cast<std::size_t>(found - holders.begin()));
}

}  // namespace tutti::verify
