#pragma once

#include "heuristics/compaction.hpp"

namespace tutti::heuristics {

/// Reduces at several roots, for networks without a common one. Each contribution travels alone, to one root
/// after the other, through NPUs that are neither holders nor receivers: the copy it leaves there is
/// overwritten by the next, and it is added only at the root. One transfer ends before the next begins, so
/// contributions cannot mix. Appends the moves and books them. Returns when all roots have the sum; none if a
/// contribution has no such path. Such networks are rare, so this is simple, not fast.
[[nodiscard]] std::optional<Ticks> reduce_without_root(const HopGraph& graph, ChunkId chunk,
                                                       const std::vector<NodeId>& roots,
                                                       LinkCalendar& calendar, std::vector<Move>& moves);

}  // namespace tutti::heuristics
