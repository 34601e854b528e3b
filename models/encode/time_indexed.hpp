#pragma once

#include "models/encode/question.hpp"
#include "models/encode/symmetry.hpp"

namespace tutti::models {

/// The time-indexed encoding: one Boolean for each commodity, hop and start in its window. Says everything
/// that the routing can say. Constraints T1… of models/README.md. Size O(commodities * hops * window).
[[nodiscard]] Question time_indexed(const Routing& routing, const Quotient& quotient, const Asked& asked);

/// How many start variables that makes.
[[nodiscard]] std::size_t time_indexed_starts(const Routing& routing, const Quotient& quotient,
                                              Units64 horizon);

}  // namespace tutti::models
