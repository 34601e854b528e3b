#pragma once

#include "models/encode/question.hpp"
#include "models/encode/sum.hpp"
#include "models/encode/symmetry.hpp"

#include <optional>
#include <span>

namespace tutti::models {

/// T11, for the spreads and flows of a time-indexed program whose starts these are (by representative; none
/// where nothing is asked). O(starts).
void press(Program& program, const Routing& routing, const Quotient& quotient,
           std::span<const std::optional<SumStarts>> starts, std::span<const Transfer> ways);

}  // namespace tutti::models
