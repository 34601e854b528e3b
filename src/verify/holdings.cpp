#include "verify/holdings.hpp"

#include <algorithm>

namespace tutti::verify {

Holdings::Holdings(const Instance& instance)
    : instance_(instance),
      data_(singleton(1, 0)),
      slot_(instance.chunks()),
      is_reduction_(instance.chunks()) {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        is_reduction_[c] = instance.demand(ChunkId(c)).reduction;
        slot_[c] = static_cast<std::uint32_t>(is_reduction_[c] ? reduction_chunks_++ : plain_chunks_++);
    }
    plain_.resize(instance.topology().npus() * plain_chunks_);
    reductions_.resize(instance.topology().npus() * reduction_chunks_);
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        if (is_reduction_[c]) continue;
        for (const NodeId holder : instance.demand(ChunkId(c)).holders)
            plain_.set(plain_bit(holder, ChunkId(c)));
    }
}

bool Holdings::is_holder(NodeId npu, ChunkId chunk) const {
    return std::ranges::binary_search(instance_.demand(chunk).holders, npu);
}

Value Holdings::value(NodeId npu, ChunkId chunk) const {
    if (!is_reduction_[chunk.index()]) return plain_.test(plain_bit(npu, chunk)) ? data_ : nullptr;
    const Value& arrived = reductions_[reduction_slot(npu, chunk)];
    if (arrived) return arrived;
    const auto holders = instance_.demand(chunk).holders;
    const auto found = std::ranges::lower_bound(holders, npu);
    if (found == holders.end() || *found != npu) return nullptr;
    return singleton(holders.size(), static_cast<std::size_t>(found - holders.begin()));
}

void Holdings::set(NodeId npu, ChunkId chunk, const Value& value) {
    if (is_reduction_[chunk.index()]) {
        reductions_[reduction_slot(npu, chunk)] = value;
    } else {
        plain_.set(plain_bit(npu, chunk), value != nullptr);
    }
}

}  // namespace tutti::verify
