#pragma once

#include "models/encode/question.hpp"
#include "models/encode/symmetry.hpp"

namespace tutti::models {

/// Whether every commodity is a sum, and no hop branches.
[[nodiscard]] bool has_exchanges(const Routing& routing);

/// All-reduces as trees that meet in an exchange: constraints E1… of models/README.md. Size O(commodities *
/// hops * window), however many contributions there are. "Infeasible" proves nothing: sums may move
/// otherwise. Precondition: has_exchanges(routing).
[[nodiscard]] Question exchange(const Routing& routing, const Quotient& quotient, const Asked& asked);

}  // namespace tutti::models
