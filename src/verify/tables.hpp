#pragma once

#include "core/instance.hpp"

#include <vector>

namespace tutti::verify {

/// The facts about a chunk that the sweep needs at every send.
struct ChunkFacts {
    std::uint32_t slot = 0;  ///< its number among the plain chunks, or among those of reductions
    std::uint32_t size = 0;  ///< its size class
    CollectiveId collective;
    bool reduction = false;
};

/// The facts about a link that the sweep needs at every send, for one chunk size.
struct Hop {
    enum Kind : std::uint8_t {
        Stored,   ///< from and to nodes at which one bit tells whether a plain chunk is there
        Counted,  ///< the same, but a switch that does not copy is an end of it
        Passing,  ///< touches a cut-through switch that is passed at the links' own pace
        Special   ///< touches another switch that cuts through, reduces or has a buffer
    };
    NodeId src, dst;
    std::uint32_t lane = 0;  ///< hops of one transit time share a lane
    Kind kind = Stored;
    bool leaves_cut_through = false, enters_cut_through = false;
    bool may_wait =
        false;  ///< Passing, out of a switch that a chunk may enter at the tick at which it leaves
    Ticks busy;
};

/// The instance as flat tables, so that a send costs one lookup of its link and, where chunks differ, one of
/// its chunk. Memory O(chunks + sizes * links).
class Tables {
  public:
    explicit Tables(const Instance& instance);

    [[nodiscard]] const ChunkFacts& chunk(ChunkId id) const { return chunks_[id.index()]; }
    [[nodiscard]] std::size_t chunks() const { return chunks_.size(); }
    [[nodiscard]] std::size_t plain_chunks() const { return plain_chunks_; }
    [[nodiscard]] std::size_t reductions() const { return chunks_.size() - plain_chunks_; }
    /// Whether all chunks are plain and of one size.
    [[nodiscard]] bool alike() const { return alike_; }

    /// Whether there are hops: not if sizes * links would make the table too large.
    [[nodiscard]] bool has_hops() const { return !hops_.empty(); }
    [[nodiscard]] const Hop* hops(std::uint32_t size) const { return hops_.data() + size * links_; }
    [[nodiscard]] std::size_t links() const { return links_; }
    /// Whether a chunk may enter and leave a switch that is passed at one tick.
    [[nodiscard]] bool passes_at_once() const { return passes_at_once_; }
    /// Whether a send on the link keeps it busy for its own beta, although it touches a cut-through switch.
    [[nodiscard]] bool is_passing(LinkId link, ChunkId chunk) const {
        return has_hops() && hops(this->chunk(chunk).size)[link.index()].kind == Hop::Passing;
    }
    /// The transit time of each lane: alpha + beta.
    [[nodiscard]] const std::vector<Ticks>& lanes() const { return lanes_; }

  private:
    void list_chunks(const Instance& instance);
    void list_hops(const Instance& instance);
    [[nodiscard]] std::vector<bool> passing_switches(const Instance& instance) const;

    std::vector<ChunkFacts> chunks_;
    std::vector<ChunkId> of_size_;  ///< a chunk of each size class
    std::size_t plain_chunks_ = 0;
    bool alike_ = true, passes_at_once_ = false;
    std::size_t links_ = 0;
    std::vector<Hop> hops_;
    std::vector<Ticks> lanes_;
};

/// Whether the state of plain chunks at this switch is only which of them wait there: it forwards without
/// limit and may copy, but does not reduce, limit its buffer or cut through.
[[nodiscard]] inline bool only_forwards(const SwitchRule& rule) {
    return !rule.reduce && !rule.cut_through && !rule.buffer;
}

}  // namespace tutti::verify
