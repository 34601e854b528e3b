#pragma once

#include "models/relaxation/traffic.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::models {

/// Who must get messages, and from when on they can start, in units of `unit` ticks: last messages of plain
/// chunks, or, backwards, first messages of contributions to sums that one node wants. Backwards links lead
/// from their destination to their source, and time runs from the horizon.
struct MessageCase {
    struct Edge {
        std::size_t from, to;
        std::int64_t length, busy;
    };
    /// Chunks of one kind and one set of holders (backwards: with one receiver).
    struct Batch {
        std::size_t kind;
        std::vector<std::int64_t> ready;  ///< per NPU, kUnreachable if never
        std::vector<NodeId> ends;         ///< who pays
        std::vector<std::int64_t> late;  ///< of each, how long before the horizon its message must have ended
        std::int64_t count = 1;
    };
    bool backwards = false;
    std::int64_t unit = 1;
    std::size_t npus = 0, nodes = 0;
    std::vector<Edge> edges;                ///< per link
    std::vector<std::vector<bool>> usable;  ///< per kind and link
    std::vector<Batch> batches;
};

/// None if nobody pays for a message more than for a way, or where ways through switches are shared.
[[nodiscard]] std::optional<MessageCase> message_case(const Instance& instance, bool backwards);

/// What looks alike (colour refinement) is one class. Colours of nodes, told apart by `colours` to begin
/// with.
[[nodiscard]] std::vector<std::size_t> refined(const MessageCase& messages, std::vector<std::size_t> colours);

}  // namespace tutti::models
