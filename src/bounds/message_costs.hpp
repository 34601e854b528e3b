#pragma once

#include "bounds/distances.hpp"

#include <cstdint>
#include <vector>

namespace tutti::bounds {

/// The cheapest messages of chunks of one size where every link has a length per busy tick: a stretch of a
/// certain pace costs the sum of length * busy of its links.
class MessageCosts {
  public:
    static constexpr std::int64_t kFar = INT64_MAX / 4;

    explicit MessageCosts(const Passage& passage);

    /// Lengths such that no path's cost exceeds kFar.
    [[nodiscard]] std::int64_t longest_length() const;
    /// About what a search takes, in links looked at.
    [[nodiscard]] std::size_t work() const { return beta_pace_.size() * paces_.size(); }
    void set_lengths(const std::vector<std::int64_t>& length);

    /// From one NPU: over one message, or over any number of them one after the other. O(links * paces log).
    void search(NodeId source, bool many_messages);
    /// Of the last search; kFar where there is no path.
    [[nodiscard]] std::int64_t cost(NodeId npu) const { return cost_[npu.index()]; }
    /// Adds the busy time of a cheapest path to the NPU, so many times, to the links' loads. Precondition:
    /// cost(npu) < kFar.
    void add_path(NodeId npu, double times, std::vector<double>& load) const;

  private:
    [[nodiscard]] bool stores(NodeId node) const { return !topology_->is_cut_through(node); }
    [[nodiscard]] std::size_t state(NodeId node, std::size_t pace) const {
        if (stores(node)) return node.index();
        return topology_->nodes() + pace * topology_->switches() + node.index() - topology_->npus();
    }
    [[nodiscard]] std::int64_t busy(std::size_t link, std::size_t pace) const {
        return busy_[link * paces_.size() + pace];
    }

    const Passage* passage_;
    const Topology* topology_;
    std::vector<Ticks> paces_;                ///< every beta of a link, rising
    std::vector<std::uint32_t> beta_pace_;    ///< per link: which of them is its own
    std::vector<std::int64_t> busy_, price_;  ///< per link and pace
    NodeId source_;
    std::vector<std::int64_t> cost_;  ///< per state: a node that stores, or a pace at a cut-through switch
    std::vector<std::uint32_t> via_link_, via_pace_;
};

}  // namespace tutti::bounds
