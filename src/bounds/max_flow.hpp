#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::bounds {

/// Maximum flow and minimum cut in a directed graph with integer capacities, by Dinic's algorithm: O(nodes^2
/// arcs) at worst, far less on networks. Arcs are added once; capacities may change between flows.
class MaxFlow {
  public:
    explicit MaxFlow(std::size_t nodes) : first_(nodes, kNone) {}

    std::size_t add_node();
    /// Returns the arc's number.
    std::size_t add_arc(std::size_t from, std::size_t to, std::int64_t capacity);
    void set_capacity(std::size_t arc, std::int64_t capacity) { capacity_[arc / 2] = capacity; }

    /// The most that can flow from source to sink, or `enough` where that is less. Forgets the last flow.
    [[nodiscard]] std::int64_t flow(std::size_t source, std::size_t sink, std::int64_t enough = INT64_MAX);

    /// After flow(): the nodes that no residual arc reaches from the source. If the flow was less than
    /// `enough`, the arcs into them are a minimum cut.
    [[nodiscard]] bool cut_off(std::size_t node) const { return level_[node] == kNone; }

    /// Arcs looked at so far, for limits of work.
    [[nodiscard]] std::size_t work() const { return work_; }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Arc {
        std::uint32_t to;
        std::uint32_t next;  ///< of the same node
    };
    bool find_levels(std::size_t source, std::size_t sink);
    std::int64_t push(std::size_t source, std::size_t sink, std::int64_t most);

    std::vector<std::uint32_t> first_;
    std::vector<Arc> arcs_;  ///< arc 2i and its reverse 2i+1
    std::vector<std::int64_t> capacity_;
    std::vector<std::int64_t> residual_;
    std::vector<std::uint32_t> level_, current_, queue_, path_;
    std::size_t work_ = 0;
};

}  // namespace tutti::bounds
