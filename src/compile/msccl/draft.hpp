#pragma once

#include "compile/excess.hpp"
#include "compile/msccl_lowering.hpp"
#include "compile/places.hpp"

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace tutti::compile::msccl {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// What the sweep over a part's messages tells about each of them (addresses.cpp).
struct Facts {
    plan::Address source{};   ///< where the sender reads it
    plan::Address operand{};  ///< what the receiver adds it to; only where it reduces
    plan::Address target{};   ///< where the receiver stores it
    std::uint32_t writer =
        kNone;                  ///< the message that wrote what this one carries; none: there from the start
    std::uint32_t readers = 0;  ///< how often what this one wrote is read: by sends and as an operand
    Ticks ready{};              ///< when the value that it carries was there
    Ticks overwritten{};        ///< the next arrival of its chunk at the sender
    Ticks used{};               ///< the next time its receiver does something with the chunk
};

/// One or more messages of consecutive chunks that go in one step: a row of a burst. In the order of a rank
/// its send stands at tick `sent` and its receive at tick `received`, so every wait leads from an earlier
/// tick to a later one. Those of one tick stand in the order of their last messages.
struct Transfer {
    std::uint32_t from = 0, to = 0, path = 0;
    Ticks sent{}, received{};
    plan::Address source{}, operand{}, target{};
    bool reduces = false;
    bool stores = true;                     ///< false: the sum is only sent on
    bool into_output = false;               ///< stored where a result is
    std::vector<std::uint32_t> messages{};  ///< in the order of their places
    std::uint32_t latest = 0, row = 0;      ///< the last message of the burst; which of its rows this is
    std::uint32_t lane = kNone;
    std::uint32_t fused = kNone;  ///< the transfer that its receiver sends on in the same step
    bool is_fused = false;        ///< sent in the step that received it

    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(messages.size()); }
    [[nodiscard]] auto sent_at() const { return std::tuple(sent, latest, row); }
    [[nodiscard]] auto received_at() const { return std::tuple(received, latest, row); }
};

/// A connection: messages in order from one rank to another.
struct Lane {
    std::uint32_t from = 0, to = 0;
    std::uint32_t channel = 0;
    std::vector<std::uint32_t> transfers{};  ///< in order
    std::uint32_t onward = kNone;   ///< the lane that the receiving rank's thread block also sends on
    std::uint32_t inbound = kNone;  ///< the lane that the sending rank's thread block also receives on
};

/// A rank copies its own input to its output.
struct OwnCopy {
    std::uint32_t rank = 0;
    std::int32_t input = 0, output = 0, count = 0;
};

/// A plan in the making; each pass adds to it.
struct Draft {
    const Part& part;
    const Places& places;
    const MscclOptions& options;
    plan::Target target;
    const MscclLimits& limits;
    bool results_last = false;            ///< results are kept in scratch; a later pass copies them
    std::vector<Facts> facts{};           ///< by message
    std::vector<Transfer> transfers{};    ///< by sent_at
    std::vector<OwnCopy> copies{};        ///< by rank
    std::vector<std::int32_t> scratch{};  ///< chunks, by rank
    std::vector<Lane> lanes{};
};

/// How much room the passes may take; pipeline.cpp turns these until the limits are kept.
struct Room {
    std::uint32_t lane_length;       ///< transfers of one lane
    std::uint32_t paths = kNone;     ///< lanes for different paths between two ranks
    bool pack = false;               ///< lanes share thread blocks even where nothing can be fused
    std::optional<int> in_flight{};  ///< messages under way on a lane, by the schedule's clock
};

}  // namespace tutti::compile::msccl
