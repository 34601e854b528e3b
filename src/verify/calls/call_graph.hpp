#pragma once

#include "plan/call_list.hpp"
#include "verify/calls/call_matching.hpp"

#include <cstdint>
#include <vector>

namespace tutti::verify {

/// What must be over before something else begins. Nodes are the events of a CallMatching and, behind them,
/// the beginnings and ends of batches.
struct CallGraph {
    struct Edge {
        std::uint32_t from, to;
        std::uint32_t earlier, later;  ///< the calls that make it
    };
    std::uint32_t nodes = 0;
    std::vector<Edge> edges{};
};

/// How calls of one rank order each other: as their streams say, or as if a rank had only one.
enum class Streams : std::uint8_t { AsGiven, One };

[[nodiscard]] CallGraph call_graph(const plan::CallList& list, const CallMatching& matching, Streams streams);

/// Circles of the graph, as the edges in order: a short one of every set of nodes that reach each other, at
/// most `most` of them; `count` is how many such sets there are.
struct CallCircles {
    std::vector<std::vector<CallGraph::Edge>> circles{};
    std::uint64_t count = 0;
};
[[nodiscard]] CallCircles circles_of(const CallGraph& graph, std::size_t most);

}  // namespace tutti::verify
