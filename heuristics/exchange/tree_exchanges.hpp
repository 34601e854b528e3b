#pragma once

#include "heuristics/exchange/exchanges.hpp"
#include "heuristics/exchange/textbook_trees.hpp"

#include <functional>
#include <vector>

namespace tutti::heuristics {

/// The tree of a chunk of the set, given its root. Precondition: the set has several members.
using TreeMaker = std::function<TreeEdges(const Exchanges::Set&, NodeId root)>;

/// A tree for each chunk.
[[nodiscard]] std::vector<SumTree> trees_of(const Exchanges& exchanges, const TreeMaker& maker);
/// The batches of these chunks: those of one batch have different roots.
[[nodiscard]] std::vector<std::uint32_t> batches_of(const Exchanges& exchanges);

/// Every textbook tree, with every order of the ranks.
[[nodiscard]] std::vector<TreeMaker> textbook_trees(const Exchanges& exchanges);

}  // namespace tutti::heuristics
