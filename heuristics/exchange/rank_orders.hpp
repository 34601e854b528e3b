#pragma once

#include "heuristics/exchange/message_graph.hpp"

#include <optional>
#include <vector>

namespace tutti::heuristics {

/// Members in an order in which those whose positions differ in one bit are near each other: in the lowest
/// bit nearest, in the highest farthest. As many as the largest power of two that there are; the others
/// follow. None: some of them cannot send to each other. O(members^2 log members).
[[nodiscard]] std::optional<std::vector<NodeId>> doubling_order(const MessageGraph& graph,
                                                                const std::vector<NodeId>& members,
                                                                ChunkId chunk);

/// The members in parts, inside of which messages are fast. Members at the same place of two parts are near
/// each other.
using Parts = std::vector<std::vector<NodeId>>;

/// Ways to divide the members: the components of those that send to each other within some time, for each
/// time that matters; the smallest parts first. O(members^2 log members).
[[nodiscard]] std::vector<Parts> partitions(const MessageGraph& graph, const std::vector<NodeId>& members,
                                            ChunkId chunk);

}  // namespace tutti::heuristics
