#pragma once

#include "heuristics/compaction.hpp"

namespace tutti::heuristics {

/// Sums up one reduction at several roots that have no common one. Each contribution travels alone, to one
/// root after the other, through NPUs that are neither holders nor receivers: each copy it leaves there is
/// overwritten by the next, and only at the root is it added. One way ends before the next begins, so they
/// cannot mix. Appends the moves and books them. Returns when all roots have the sum; none if a contribution
/// has no such way. Such networks are odd, so this is plain, not fast.
[[nodiscard]] std::optional<Ticks> reduce_without_root(const HopGraph& graph, ChunkId chunk,
                                                       const std::vector<NodeId>& roots,
                                                       LinkCalendar& calendar, std::vector<Move>& moves);

}  // namespace tutti::heuristics
