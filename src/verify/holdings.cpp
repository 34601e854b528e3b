#include "verify/holdings.hpp"

#include <algorithm>

namespace tutti::verify {

Holdings::Holdings(const Instance& instance, const Tables& tables)
    : npus_(instance.topology().npus()), node_stride_(1), slot_stride_(instance.topology().nodes()) {
    const Topology& topology = instance.topology();
    if (tables.plain_chunks() <= topology.nodes()) {
        node_stride_ = tables.plain_chunks();
        slot_stride_ = 1;
    }
    for (const SwitchRule& rule : topology.parts().switches)
        counts_.push_back(only_forwards(rule) && !rule.copy);
    if (std::ranges::find(counts_, true) != counts_.end())
        seen_.resize(tables.plain_chunks() * counts_.size());
    words_.resize((tables.plain_chunks() * topology.nodes() + 63) / 64);
    for (std::size_t c = 0; c < tables.chunks(); ++c) {
        if (tables.chunk(ChunkId(c)).reduction) continue;
        const Ticks first = instance.release(ChunkId(c));
        for (const NodeId holder : instance.demand(ChunkId(c)).holders) {
            const Ticks release = instance.release(ChunkId(c), holder);
            if (release == first) {
                put(holder, tables.chunk(ChunkId(c)).slot);
            } else {
                late_.push_back({release, holder, tables.chunk(ChunkId(c)).slot});
            }
        }
    }
    std::ranges::sort(late_, std::ranges::greater{}, &Late::release);
}

bool Holdings::holds_all(NodeId npu, std::uint32_t slot, std::size_t count) const {
    if (!is_by_node()) {
        const auto end = static_cast<std::uint32_t>(slot + count);
        while (slot < end && holds(npu, slot)) ++slot;
        return slot == end;
    }
    std::size_t bit = bit_of(npu, slot);
    const std::size_t end = bit + count;
    while (bit < end) {
        const std::size_t in_word = std::min<std::size_t>(64 - bit % 64, end - bit);
        const std::uint64_t mask = (~std::uint64_t{0} >> (64 - in_word)) << (bit % 64);
        if ((~words_[bit / 64] & mask) != 0) return false;
        bit += in_word;
    }
    return true;
}

void Holdings::put_copy(NodeId node, std::uint32_t slot) {
    if (holds(node, slot)) {
        ++more_[bit_of(node, slot)];
        return;
    }
    put(node, slot);
    seen_[seen_bit(node, slot)] = true;
}

bool Holdings::take_copy(NodeId node, std::uint32_t slot) {
    const std::size_t bit = bit_of(node, slot);
    if (!holds(node, slot)) return false;
    if (!more_.empty()) {
        if (const auto more = more_.find(bit); more != more_.end()) {
            if (--more->second == 0) more_.erase(more);
            return true;
        }
    }
    words_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
    return true;
}

bool Holdings::had_copy(NodeId node, std::uint32_t slot) const { return seen_[seen_bit(node, slot)]; }

}  // namespace tutti::verify
