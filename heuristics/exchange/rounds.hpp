#pragma once

#include "core/stop.hpp"
#include "heuristics/compaction.hpp"
#include "heuristics/exchange/message_graph.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace tutti::heuristics {

/// A set of NPUs that exchange what they have: each pair is one message. An NPU is in at most one meeting of
/// a round.
struct Meeting {
    std::vector<std::pair<NodeId, NodeId>> messages;  ///< from, to
    bool copies = false;                              ///< what is sent replaces what the target has
    bool one_adds = false;  ///< of two messages, there and back, the first is added, the other replaces
};
using Round = std::vector<Meeting>;
/// Rounds after which every NPU has the sum of all: what an NPU has after a round is the sum of what it and
/// those who sent to it had before, and these have no contribution in common.
using RoundPlan = std::vector<Round>;

/// A chunk of a reduction and the rounds that sum it up. Plans may be shared.
struct RoundSum {
    ChunkId chunk;
    const RoundPlan* plan;
};

/// Times for all meetings of all chunks. NPUs that have nothing stay silent, and what nobody needs is left
/// out, so a plan may name NPUs outside the group. None: a message has no way or meets what it must not
/// (large meetings on slow links), a plan does not bring everything to a receiver, or `stop` came first.
/// O(messages) and the search for gaps.
[[nodiscard]] std::optional<std::vector<Move>> schedule_rounds(const MessageGraph& graph,
                                                               const std::vector<RoundSum>& sums,
                                                               const Stop& stop);

}  // namespace tutti::heuristics
