#pragma once

#include "heuristics/ring/ring_paths.hpp"

#include <optional>
#include <string>
#include <utility>

namespace tutti::heuristics {

/// One path of a token, and what comes after it.
struct RingStep {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    RingPaths::PathId path = kNone;  ///< none: the token is where it begins
    std::uint32_t ring = kNone;
    std::uint32_t place = 0;  ///< on the ring: where the path leads
    std::uint32_t left = 0;   ///< places of the ring to visit after that
    bool backwards = false;
    bool to_root = false;  ///< after the last place a path leads to the root, which is not on the ring
};

/// Which NPUs each chunk visits, in which order and over which hops.
///
/// The members of a set form a **ring**, in the order of a depth-first search of the network, so that
/// neighbours on the ring are near each other. A reduction starts at the NPU after its root, visits all
/// holders and ends at the root; then the sum, like any chunk, is passed on around the ring of its receivers.
class RingPlan {
  public:
    /// The instance must outlive this.
    explicit RingPlan(const Instance& instance);

    /// Finds the paths. Returns why there is no plan; empty if there is one.
    [[nodiscard]] std::string find(const Stop& stop);

    [[nodiscard]] const HopGraph& graph() const { return graph_; }
    [[nodiscard]] std::span<const HopId> path(RingPaths::PathId id) const { return paths_.path(id); }
    /// Whether the chunk has contributions to be summed up.
    [[nodiscard]] bool reduces(ChunkId chunk) const;
    /// Whether contributions pass through NPUs on their way to the next holder.
    [[nodiscard]] bool passes_npus() const { return passes_npus_; }
    /// Where the sum is complete, or who has the chunk first.
    [[nodiscard]] NodeId root(ChunkId chunk) const { return roots_[chunk.index()]; }
    /// Where the reduction begins.
    [[nodiscard]] NodeId first_holder(ChunkId chunk) const;
    [[nodiscard]] RingStep reduction(ChunkId chunk) const;
    /// From the root to the receivers: one way around the ring, or both; none where nobody else wants it.
    [[nodiscard]] std::vector<RingStep> distribution(ChunkId chunk) const;
    /// The step after this one; none after the last.
    [[nodiscard]] std::optional<RingStep> next(ChunkId chunk, const RingStep& step) const;

  private:
    struct Ring {
        std::vector<NodeId> order;
        std::vector<RingPaths::PathId> onward, back;  ///< from each place to the next, to the one before
    };
    /// What a chunk needs besides its rings.
    struct Ends {
        std::uint32_t holders = RingStep::kNone, receivers = RingStep::kNone;  ///< rings
        RingPaths::PathId to_root = RingStep::kNone;      ///< from the last holder, where the root is none
        RingPaths::PathId to_receiver = RingStep::kNone;  ///< from the root, where that is no receiver
    };

    void rank_npus();
    void choose_roots();
    [[nodiscard]] std::uint32_t ring_of(std::uint32_t set, CollectiveId collective);
    void plan(ChunkId chunk);
    void look_for_npus_on_paths();
    /// The place of the first member after the node, in the order of the ring.
    [[nodiscard]] std::uint32_t place_after(const Ring& ring, NodeId node) const;
    [[nodiscard]] std::optional<std::uint32_t> place_of(const Ring& ring, NodeId node) const;

    const Instance& instance_;
    HopGraph graph_;
    RingPaths paths_;
    bool both_ways_;  ///< copies go around the ring in both directions
    bool passes_npus_ = false;
    std::vector<std::uint32_t> rank_;  ///< by NPU
    std::vector<NodeId> roots_;        ///< by chunk
    std::vector<Ends> ends_;           ///< by chunk
    std::vector<Ring> rings_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;  ///< of rings, by set and rule
};

}  // namespace tutti::heuristics
