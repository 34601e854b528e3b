#pragma once

#include "heuristics/spread.hpp"
#include "heuristics/switches/switch_paths.hpp"
#include "heuristics/switches/switch_rows.hpp"

namespace tutti::heuristics {

/// Which chunks each holder has and has claimed, and which clusters still lack them. A chunk is **claimed**
/// for a holder if it is there, in flight to it, or not wanted. Chunks are numbered by their spreads. Memory
/// O(nodes * spreads) bits.
class SwitchHoldings {
  public:
    /// All must outlive this. The sources have claimed their chunks; nothing has arrived yet.
    SwitchHoldings(const SpreadProblem& problem, const SwitchClusters& clusters, const SwitchPaths& paths);

    [[nodiscard]] bool is_claimed(NodeId node, std::uint32_t i) const {
        return claimed_.test(node.index(), i);
    }
    [[nodiscard]] std::span<const BitTable::Word> has(NodeId node) const { return has_.row(node.index()); }
    [[nodiscard]] std::span<const BitTable::Word> claimed(NodeId node) const {
        return claimed_.row(node.index());
    }
    /// The chunks that the cluster does not lack: claimed by a member, or wanted by none.
    [[nodiscard]] std::span<const BitTable::Word> claimed_inside(std::size_t level, NodeId member) const {
        return brought_[level].row(clusters_.cluster(level, member));
    }
    /// The chunks that all targets have claimed.
    [[nodiscard]] std::span<const BitTable::Word> claimed_by_all() const { return done_.row(0); }

    void arrive(NodeId node, std::uint32_t i) { has_.set(node.index(), i); }
    /// Precondition: not claimed.
    void claim(NodeId node, std::uint32_t i);

    /// The number of claims of NPUs that are still missing.
    [[nodiscard]] std::size_t missing() const { return missing_; }
    /// The chunks that the cluster lacks.
    [[nodiscard]] std::size_t lacking(std::size_t level, std::uint32_t cluster) const {
        return lacking_[level][cluster];
    }
    /// How many holders have claimed it, sources included.
    [[nodiscard]] std::uint32_t claims(std::uint32_t i) const { return claims_[i]; }
    /// Whether only its sources have claimed it.
    [[nodiscard]] bool is_fresh(std::uint32_t i) const { return claims_[i] <= spreads_[i].sources.size(); }
    /// The nodes that are sources of fresh chunks, in order of their first.
    [[nodiscard]] const std::vector<NodeId>& fresh_sources();
    /// An upper bound of their number.
    [[nodiscard]] std::size_t fresh_sources_at_most() const { return fresh_sources_.size(); }
    /// The chunks that the node is a source of.
    [[nodiscard]] const std::vector<std::uint32_t>& own(NodeId node) const { return own_[node.index()]; }

    [[nodiscard]] bool is_npu(NodeId node) const { return graph_.instance().topology().is_npu(node); }
    [[nodiscard]] bool is_target(NodeId node) const { return is_target_[node.index()]; }
    /// Whether the node is a target, or a switch, which wants every chunk.
    [[nodiscard]] bool wants_chunks(NodeId node) const { return !is_npu(node) || is_target(node); }
    [[nodiscard]] std::size_t targets() const { return targets_; }

  private:
    void add_targets(std::uint32_t i);
    void add_sources(std::uint32_t i);
    void mark(NodeId node, std::uint32_t i);

    const HopGraph& graph_;
    const std::vector<Spread>& spreads_;
    const SwitchClusters& clusters_;
    BitTable has_, claimed_;         ///< a row for each node, a bit for each spread
    BitTable done_;                  ///< what all targets have claimed
    std::vector<BitTable> brought_;  ///< per level, a row for each cluster: claimed inside, or not wanted
    std::vector<std::vector<std::size_t>> lacking_;  ///< per level and cluster, the zeros of that row
    std::vector<std::uint32_t> claims_, open_;       ///< per spread: claims in all, targets without one
    std::vector<bool> is_target_;
    std::vector<std::uint32_t> fresh_;  ///< per node, its chunks that nobody else has claimed
    std::vector<NodeId> fresh_sources_;
    std::vector<std::vector<std::uint32_t>> own_;  ///< per node, the spreads it is a source of
    std::size_t targets_ = 0;
    std::size_t missing_ = 0;
};

}  // namespace tutti::heuristics
