#pragma once

#include "heuristics/exchange/message_graph.hpp"

#include <optional>
#include <vector>

namespace tutti::heuristics {

/// A line of nodes, each next to the one before; of a ring the last one is next to the first.
struct FactorLine {
    std::vector<NodeId> nodes;
    bool is_ring = false;
};
/// One dimension of a network: lines that have no node in common.
using Factor = std::vector<FactorLine>;

/// The dimensions of a torus, a mesh, a hypercube or a product of such, as far as its links tell them: only
/// the members and the messages between them count. A ring of four is two dimensions. None: there is no such
/// structure, or a member has more than 16 neighbours. It is not checked that the dimensions
/// make a product. O(members * neighbours^3).
[[nodiscard]] std::optional<std::vector<Factor>> factors_of(const MessageGraph& graph,
                                                            const std::vector<NodeId>& members);

}  // namespace tutti::heuristics
