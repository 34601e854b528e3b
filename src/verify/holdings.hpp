#pragma once

#include "core/huge_pages.hpp"
#include "verify/tables.hpp"

#include <unordered_map>
#include <vector>

namespace tutti::verify {

/// Which nodes hold the plain chunks: one bit per node and chunk. An NPU, or a switch that copies, keeps a
/// chunk for ever. At a switch that does not copy, the bit means that a copy waits; further copies of the
/// same chunk are counted separately, because they are rare. Switches for which only_forwards() is false are
/// not represented: their bits stay 0.
///
/// The sends of a tick come by source, so the bits are stored node by node. Where there are more chunks than
/// nodes they are stored chunk by chunk, because the two ends of a link then often share a cache line. On a
/// 64x64 torus's all-gather the first takes 2/3 of the time of the second, on an all-to-all of 1024 NPUs 6/5.
class Holdings {
  public:
    Holdings(const Instance& instance, const Tables& tables);

    [[nodiscard]] bool holds(NodeId node, std::uint32_t slot) const {
        const std::size_t bit = bit_of(node, slot);
        return ((words_[bit / 64] >> (bit % 64)) & 1) != 0;
    }
    void put(NodeId node, std::uint32_t slot) {
        const std::size_t bit = bit_of(node, slot);
        words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    void prefetch(NodeId node, std::uint32_t slot) const {
        __builtin_prefetch(&words_[bit_of(node, slot) / 64], 1);
    }
    /// Gives the late holders of chunks whose holders have different releases what is theirs by `tick`. All
    /// other holders have their chunks from the start.
    void release_until(Ticks tick) {
        while (!late_.empty() && late_.back().release <= tick) {
            put(late_.back().holder, late_.back().slot);
            late_.pop_back();
        }
    }
    /// Whether the bits of a node are adjacent; otherwise those of a chunk are.
    [[nodiscard]] bool is_by_node() const { return slot_stride_ == 1; }
    /// Whether the NPU holds all `count` chunks from `slot` on; 64 at a time if is_by_node().
    [[nodiscard]] bool holds_all(NodeId npu, std::uint32_t slot, std::size_t count) const;

    /// Whether the node is a switch that does not copy, where the next three must be used.
    [[nodiscard]] bool counts(NodeId node) const {
        return node.index() >= npus_ && counts_[node.index() - npus_];
    }
    void put_copy(NodeId node, std::uint32_t slot);
    /// Takes a waiting copy out of the switch; false if there is none.
    [[nodiscard]] bool take_copy(NodeId node, std::uint32_t slot);
    /// Whether a copy has ever arrived at the switch.
    [[nodiscard]] bool had_copy(NodeId node, std::uint32_t slot) const;

  private:
    [[nodiscard]] std::size_t bit_of(NodeId node, std::uint32_t slot) const {
        return node.index() * node_stride_ + slot * slot_stride_;
    }
    [[nodiscard]] std::size_t seen_bit(NodeId node, std::uint32_t slot) const {
        return slot * counts_.size() + node.index() - npus_;
    }
    struct Late {
        Ticks release;
        NodeId holder;
        std::uint32_t slot = 0;
    };
    std::vector<Late> late_;  ///< the next one last
    std::size_t npus_;
    std::size_t node_stride_, slot_stride_;  ///< one of them is 1
    std::vector<std::uint64_t, HugePages<std::uint64_t>> words_;
    std::vector<bool> counts_;                             ///< per switch
    std::vector<bool> seen_;                               ///< per switch and chunk
    std::unordered_map<std::size_t, std::uint64_t> more_;  ///< copies beyond the first, by bit
};

}  // namespace tutti::verify
