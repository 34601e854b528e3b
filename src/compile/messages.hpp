#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::compile {

/// The path of a message from one NPU to another: its links in order, with only switches between them.
struct Path {
    NodeId from;
    NodeId to;
    std::vector<LinkId> links;
};

/// One chunk sent from NPU to NPU. It takes the value that `from` has at `start`, after the arrivals of
/// that tick; at `arrival` the value of `to` is replaced or added to, before the sends of that tick.
struct Message {
    ChunkId chunk;
    std::uint32_t path = 0;  ///< in Messages::paths
    NodeId from;
    NodeId to;
    Ticks start;
    Ticks arrival;  ///< later than the start
    Op op = Op::Copy;
};

struct Messages {
    std::vector<Path> paths{};   ///< distinct; parallel links are different paths
    std::vector<Message> all{};  ///< by start, then by their first send's link, then by chunk
};

/// The messages of one collective, hops through switches folded; what ends inside a switch is left out.
/// Throws InputError that names the switch where one sends a copy twice or adds what it receives: plans for
/// NPUs cannot say that; likewise where a late contributor forwards sums before its release. Precondition:
/// the schedule is valid; where that shows not to be so, InputError. O(sends log sends).
[[nodiscard]] Messages messages_of(const Instance& instance, const Schedule& schedule,
                                   CollectiveId collective);

/// The collectives that a user means: the one with that id, or all of them. Throws InputError that lists the
/// ids when there is no such one.
[[nodiscard]] std::vector<CollectiveId> collectives_named(const Instance& instance,
                                                          const std::optional<std::string>& id);

}  // namespace tutti::compile
