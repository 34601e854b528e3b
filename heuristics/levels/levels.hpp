#pragma once

#include "heuristics/levels/message_routes.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// A partition of the NPUs: a part's number for each.
using Partition = std::vector<std::uint32_t>;

/// The levels of a cluster, finest first: NPUs on one switch, in one pod, and so on. Each is a coarsening of
/// the one before; neither the single NPUs nor the whole are among them.
[[nodiscard]] std::vector<Partition> levels_of(const Topology& topology, const MessageRoutes& routes);

/// Positions of the members of a group in the levels: which part of the whole, which part of that, and so on,
/// down to the place in the finest part. Pairs of members are sorted into rounds by the difference of their
/// positions, digit by digit: in a round every member sends to at most one member and receives from at most
/// one, and all pairs of a round are about equally far apart. Parts may have different sizes.
class Numbering {
  public:
    Numbering(std::span<const NodeId> members, std::span<const Partition> levels, std::size_t npus);
    /// The same members in the same order, but as one level: as many rounds as members, whatever the sizes of
    /// the parts, with near and far pairs in one round.
    [[nodiscard]] Numbering flat() const;
    /// Whether there are more rounds than members.
    [[nodiscard]] bool is_irregular() const { return rounds(0, radix_.size()) > members_; }

    using Round = std::uint64_t;
    /// The round of the two, over all levels; near ones first. 0 for a node that is no member.
    [[nodiscard]] Round round(NodeId from, NodeId to) const { return round(from, to, 0, radix_.size()); }
    /// The part of it that says which part sends to which. Level 0: every NPU is a part; else the parts are
    /// those of partition `level - 1`.
    [[nodiscard]] Round outer(NodeId from, NodeId to, std::size_t level) const {
        return round(from, to, level, radix_.size());
    }
    /// The part of it that says which place within a part sends to which.
    [[nodiscard]] Round inner(NodeId from, NodeId to, std::size_t level) const {
        return round(from, to, 0, level);
    }
    /// The numbers of them.
    [[nodiscard]] Round inner_rounds(std::size_t level) const { return rounds(0, level); }
    [[nodiscard]] Round outer_rounds(std::size_t level) const { return rounds(level, radix_.size()); }
    /// Whether both have the same place within their parts.
    [[nodiscard]] bool is_aligned(NodeId a, NodeId b, std::size_t level) const {
        return is_member(a) && is_member(b) && inner(a, b, level) == 0;
    }
    /// Among the members, those of one part one after the other. Precondition: is_member(npu).
    [[nodiscard]] std::uint32_t position(NodeId npu) const { return place_[npu.index()]; }
    [[nodiscard]] bool is_member(NodeId npu) const { return place_[npu.index()] != kNone; }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    Numbering() = default;
    [[nodiscard]] Round round(NodeId from, NodeId to, std::size_t begin, std::size_t end) const;
    [[nodiscard]] Round rounds(std::size_t begin, std::size_t end) const;
    std::vector<std::uint32_t> place_;   ///< by NPU: its row in digits_
    std::vector<std::uint32_t> digits_;  ///< by member and level, finest first
    std::vector<std::uint32_t> radix_;   ///< by level
    std::size_t members_ = 0;
};

}  // namespace tutti::heuristics
