#pragma once

#include "core/stop.hpp"
#include "heuristics/compaction.hpp"
#include "heuristics/exchange/message_graph.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace tutti::heuristics {

/// The plan of a chunk: an undirected tree over NPUs, its members and perhaps relays.
struct SumTree {
    ChunkId chunk;
    std::vector<std::pair<NodeId, NodeId>> edges;
};

/// What decides between messages that are equally urgent.
enum class SumTreeTies : std::uint8_t {
    Shift,   ///< the target's number minus the source's, modulo the NPUs: NPUs send to different targets
    Chunk,   ///< the chunk's number
    Opposed  ///< trees with the same middle edge: in one order on its one side, in the opposite order on the
             ///< other. Else both messages of a tree's middle edge start at one tick, and if they meet in a
             ///< switch, one must wait. Then as Shift.
};

/// Which of the messages that wait for a port goes first.
struct SumTreeOrder {
    /// Chunks of a lower batch first; by tree, empty: all are in one batch.
    std::vector<std::uint32_t> batches = {};
    SumTreeTies ties = SumTreeTies::Shift;
    /// The longest rest first; or, if false, the shortest.
    bool longest_first = true;
    /// How often the times are made anew, in the order in which messages would start if all were as late as
    /// they can be (justification). Ends when that gains nothing.
    unsigned justifications = 0;
};

/// Sends a chunk along every tree, all at once: each edge carries a message each way, as far as somebody
/// needs it. A message from u to v waits for what the other neighbours of u send to u. The last of the two
/// messages of an edge to start may carry the whole sum. Serves every kind of demand; a plain chunk starts at
/// its first holder in the tree. None: a tree lacks a member or an edge that no message can take, or `stop`
/// came first. O(messages log messages) and the search for gaps.
[[nodiscard]] std::optional<std::vector<Move>> schedule_sum_trees(const MessageGraph& graph,
                                                                  const std::vector<SumTree>& trees,
                                                                  const SumTreeOrder& order,
                                                                  const Stop& stop);

}  // namespace tutti::heuristics
