#pragma once

#include "models/encode/question.hpp"

namespace tutti::models {

/// The arrival-time encoding: an integer for the time at which a chunk is at a node, a literal for the chain
/// of hops by which it gets there, intervals on links that must not overlap. Constraints I1… of
/// models/README.md. Its size does not depend on the length of time: O(chunks * hops), and the pairs of uses
/// of a link where a solver has no intervals. Precondition: why_no_interval(routing) is empty.
[[nodiscard]] Question interval(const Routing& routing, const Asked& asked);

/// Why this encoding cannot express the instance; empty if it can.
[[nodiscard]] std::string why_no_interval(const Routing& routing);

/// How many chains of chunks that makes, and about how many pairs of uses of a link, which a solver without
/// intervals has to read.
struct IntervalSize {
    std::size_t chains = 0, pairs = 0;
};
[[nodiscard]] IntervalSize interval_size(const Routing& routing);

}  // namespace tutti::models
