#pragma once

#include "compile/graph.hpp"
#include "compile/places.hpp"

#include <cstdint>
#include <vector>

/// The front end of schedules: what is read and written where, messages in one step, and the graph.
namespace tutti::compile {

/// What the sweep over a part's messages tells about each of them (schedule/addresses.cpp).
struct MessageFacts {
    plan::Address source{};   ///< where the sender reads it
    plan::Address operand{};  ///< what the receiver adds it to; only where it reduces
    plan::Address target{};   ///< where the receiver stores it
    Ticks ready{};            ///< when the value that it carries was there
    Ticks overwritten{};      ///< the next arrival of its chunk at the sender
    Ticks used{};             ///< the next time its receiver does something with the chunk
};

/// A rank copies its own input to its output.
struct OwnCopy {
    std::uint32_t rank = 0;
    std::int32_t input = 0, output = 0, count = 0;
};

/// The messages of a part with their addresses. Refers to the part.
struct ScheduleMoves {
    const Part& part;
    std::vector<MessageFacts> facts{};  ///< by message
    std::vector<OwnCopy> copies{};      ///< by rank; `count` at most what was asked for
    std::vector<RankMemory> memory{};   ///< by rank
};

/// Where each message is read and written, own copies, scratch. With `results_last` results are kept in
/// scratch, and the caller copies them at the end. Own copies have at most `most_copied` chunks. The memory
/// is that of calls out of place. Precondition: the schedule is valid. O(messages log messages).
[[nodiscard]] ScheduleMoves moves_of(const Part& part, const Places& places, bool results_last,
                                     std::int32_t most_copied);

/// The instructions of a schedule in order of time: own copies, then for each tick what arrives and what is
/// sent. Up to `most` messages of neighbouring chunks are one where that delays no step. O(messages log
/// messages + chunks of all instructions).
[[nodiscard]] Graph graph_of(const ScheduleMoves& moves, std::int32_t most, bool own_copies = true);

}  // namespace tutti::compile
