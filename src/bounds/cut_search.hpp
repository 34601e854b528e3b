#pragma once

#include "bounds/traffic.hpp"

#include <functional>

namespace tutti::bounds {

/// Looks at a set of nodes; false when it has seen enough.
using CutVisit = std::function<bool(std::vector<bool> inside)>;

/// Calls `visit` with the regular sets: blocks of the numbering, one side of each. False if `visit` answered
/// no.
bool visit_blocks(const Topology& topology, const CutVisit& visit);

/// Calls `visit` with sets of nodes that much must enter over little: parts of the network, blocks and balls,
/// then for each receiver and each source the set whose ratio of chunks to speed is largest, if it beats all
/// before. Ends when `visit` answers no. Bounded in its work; O(NPUs) maximum flows at most.
void search_cuts(const Traffic& traffic, const Stop& stop, const CutVisit& visit);

}  // namespace tutti::bounds
