#pragma once

#include "heuristics/exchange/message_graph.hpp"

#include <vector>

namespace tutti::heuristics {

/// How long each link is busy with the messages of a plan, without times: the fullest one says what the plan
/// takes at least if bandwidth counts. For choosing what is tried first; nobody is told.
class LoadEstimate {
  public:
    explicit LoadEstimate(const MessageGraph& graph);

    /// A message, so many times. Precondition: graph.joins(from, to).
    void add(NodeId from, NodeId to, ChunkId chunk, std::size_t times = 1);
    [[nodiscard]] Ticks fullest() const { return fullest_; }
    /// The busy times of the first links of all messages.
    [[nodiscard]] Ticks sent() const { return sent_; }

  private:
    const MessageGraph& graph_;
    std::vector<Ticks> loads_;  ///< by link
    Ticks fullest_, sent_;
};

}  // namespace tutti::heuristics
