#pragma once

#include "bounds/traffic.hpp"
#include "core/bound.hpp"

#include <vector>

namespace tutti::bounds {

/// The chunks whose messages may be counted (trees.cpp): those from one NPU to one other, and all others
/// where no switch copies, or adds to sums.
[[nodiscard]] std::vector<const ChunkClass*> countable_chunks(const Traffic& traffic);

/// What lengths prove that are equal on all ports of NPUs, or on all links across the borders of parts: the
/// bound `trees` where a search from every NPU would take too long. O(partitions * (links + holders and
/// receivers of all classes)).
[[nodiscard]] Bound border_trees(const Traffic& traffic, const Stop& stop);

}  // namespace tutti::bounds
