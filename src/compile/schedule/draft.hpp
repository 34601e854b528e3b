#pragma once

#include "compile/places.hpp"
#include "compile/schedule_graph.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace tutti::compile::schedule {

/// One or more messages of consecutive chunks that go in one step: a row of a burst. In the order of a rank
/// its send stands at tick `sent` and its receive at tick `received`, so every wait leads from an earlier
/// tick to a later one. Those of one tick stand in the order of their last messages.
struct Transfer {
    std::uint32_t from = 0, to = 0, path = 0;
    Ticks sent{}, received{};
    plan::Address source{}, operand{}, target{};
    bool reduces = false;
    std::int32_t count = 0;             ///< messages
    std::uint32_t latest = 0, row = 0;  ///< the last message of the burst; which of its rows this is

    [[nodiscard]] auto sent_at() const { return std::tuple(sent, latest, row); }
    [[nodiscard]] auto received_at() const { return std::tuple(received, latest, row); }
};

/// Messages to transfers: up to `most` messages of consecutive chunks become one where that delays no step.
/// In order of their sends.
[[nodiscard]] std::vector<Transfer> transfers_of(const ScheduleMoves& moves, std::int32_t most);

}  // namespace tutti::compile::schedule
