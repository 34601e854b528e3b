#pragma once

#include "heuristics/exchange/rank_orders.hpp"

#include <span>
#include <utility>
#include <vector>

namespace tutti::heuristics {

using TreeEdges = std::vector<std::pair<NodeId, NodeId>>;

/// Everybody is joined to the root: direct reduce-scatter and all-gather.
[[nodiscard]] TreeEdges star_tree(std::span<const NodeId> order, std::size_t root);
/// The ring of the order without the edge opposite to the root: a ring both ways.
[[nodiscard]] TreeEdges ring_tree(std::span<const NodeId> order, std::size_t root);
/// The binomial tree of recursive halving and doubling. With 2^k members positions are counted by xor, so
/// that only partners of the doubling order are joined, else modulo. `far_first`: the members that differ in
/// the highest bit are joined to the leaves, so that most messages go far; else near.
[[nodiscard]] TreeEdges binomial_tree(std::span<const NodeId> order, std::size_t root, bool far_first);
/// A balanced binary search tree over the positions, turned by the root's: about every second member is a
/// leaf, and the inner nodes of one tree are leaves of the next (double trees).
[[nodiscard]] TreeEdges binary_tree(std::span<const NodeId> order, std::size_t root);
/// A tree inside each part, to the members at the root's place, and a tree over these.
using TreeOf = TreeEdges (*)(std::span<const NodeId>, std::size_t root);
[[nodiscard]] TreeEdges two_level_tree(const Parts& parts, NodeId root, TreeOf inner, TreeOf outer);

}  // namespace tutti::heuristics
