#pragma once

#include "compile/messages.hpp"

#include <span>

namespace tutti::compile {

/// A message between ranks. Chunks are counted from the collective's first.
struct RankMessage {
    std::uint32_t chunk = 0;
    std::uint32_t from = 0;  ///< a rank
    std::uint32_t to = 0;
    std::uint32_t path = 0;  ///< in Part::paths
    Ticks start;
    Ticks arrival;
    Op op = Op::Copy;
    friend bool operator==(const RankMessage&, const RankMessage&) = default;
};

/// One collective of a schedule as those who take part see it: what a plan is made from. The first ranks are
/// the group's, in its order; the others are relays, NPUs outside the group that pass something on, in order
/// of their numbers. Only messages that somebody's result needs are in it, so a plain chunk reaches a rank at
/// most once, and never one that holds it from the start. A message says Op::Reduce only if its receiver has
/// a value to add to.
struct Part {
    CollectiveId collective;
    std::uint32_t ranks = 0;        ///< of the group and relays together
    std::uint32_t members = 0;      ///< the ranks of the group are 0 … members - 1
    std::uint32_t first_chunk = 0;  ///< the collective's chunks are first_chunk … first_chunk + chunks - 1
    std::uint32_t chunks = 0;
    std::vector<NodeId> npus{};           ///< by rank
    std::vector<Path> paths{};            ///< in NPUs and links
    std::vector<RankMessage> messages{};  ///< in the order of Messages::all
};

/// Throws InputError where plans for NPUs cannot say what the schedule does: switches that copy or reduce
/// (messages_of), chunks of different sizes. Precondition: the schedule is valid. O(sends log sends).
[[nodiscard]] Part part_of(const Instance& instance, const Schedule& schedule, CollectiveId collective);

/// A message leaves or arrives.
struct Event {
    std::uint32_t message = 0;  ///< its position
    bool arrives = false;
    friend bool operator==(const Event&, const Event&) = default;
};

/// What happens in order of time: at one tick arrivals first, then starts, each in the order of the messages.
[[nodiscard]] std::vector<Event> events_of(std::span<const RankMessage> messages);

}  // namespace tutti::compile
