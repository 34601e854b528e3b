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
    LinkId link;                 ///< of several the lowest
    std::uint64_t position = 0;  ///< tells one that is alone from others over the same link
    bool adds = false;           ///< several, or one that others could be added to
};

/// What a send out of a cut-through switch forwards.
struct Forwards {
    enum Which {
        First,   ///< the first inbound send that has not been forwarded
        This,    ///< `inbound`
        Nothing  ///< all are forwarded by others
    } which = First;
    DueInbound inbound{};
};

struct WaitingSend {
    NumberedSend numbered;
    DueInbound inbound;  ///< what it would forward
};

struct CutThroughTaking {
    /// What has entered so far.
    std::function<std::vector<DueInbound>(NodeId, ChunkId)> due;
    std::function<void(const NumberedSend&, const Forwards&)> take;
    /// Takes sends that wait for each other in a cycle, or for such a send. They carry nothing.
    std::function<void(std::span<const WaitingSend>)> take_waiting_forever;
};

/// Processes sends of one tick out of cut-through switches, each after all of them that feed its switch at
/// the same tick (over a link of alpha 0). Where these wait for each other in a cycle, each after those that
/// it forwards itself. `sends` are in order of link number.
void take_in_cut_through_order(std::span<const NumberedSend> sends, const Instance& instance,
                               const CutThroughTaking& taking);

}  // namespace tutti::verify
