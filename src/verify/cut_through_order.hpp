#pragma once

#include "verify/numbered_send.hpp"

#include "core/instance.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti::verify {

/// What is due of a chunk at a switch now: one inbound send, or several that are added up.
struct DueInbound {
    LinkId link;  ///< of several the lowest
    bool adds = false;
};

struct CutThroughTaking {
    /// What has entered so far.
    std::function<std::vector<DueInbound>(NodeId, ChunkId)> due;
    /// `inbound`: forwards that one (DueInbound::link). None: the first remaining one.
    std::function<void(const NumberedSend&, std::optional<LinkId> inbound)> take;
};

/// Processes sends of one tick out of cut-through switches, each after all of them that feed its switch at
/// the same tick (over a link of alpha 0). Where these wait for each other in a cycle, each after those that
/// it forwards itself. `sends` are in order of link number.
void take_in_cut_through_order(std::span<const NumberedSend> sends, const Instance& instance,
                               const CutThroughTaking& taking);

}  // namespace tutti::verify
