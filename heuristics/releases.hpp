#pragma once

#include "core/instance.hpp"

#include <algorithm>

namespace tutti::heuristics {

/// Before that the node sends nothing of the chunk: its own release if it is a holder, else the first. (The
/// rules let a late contributor forward what others sent it before; no heuristic does, except last_rank.)
[[nodiscard]] inline Ticks release_at(const Instance& instance, ChunkId chunk, NodeId node) {
    if (!instance.is_staggered(chunk)) return instance.release(chunk);
    const bool holds = std::ranges::binary_search(instance.demand(chunk).holders, node);
    return holds ? instance.release(chunk, node) : instance.release(chunk);
}

}  // namespace tutti::heuristics
