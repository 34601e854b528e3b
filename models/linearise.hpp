#pragma once

#include "models/program.hpp"

#include <string>

namespace tutti::models {

/// A program of unconditional rows alone, for solvers and formats that know nothing else.
struct Linearised {
    /// The variables of the given program under their old numbers, then a 0/1 variable for the order of each
    /// pair of intervals that could overlap. Hints and objective are kept.
    Program program;
    /// Why it cannot be done, if so; else empty.
    std::string refusal;
};

/// Choices become sums of 0/1 variables; conditions and orders become rows with a big number, the least that
/// does. Refuses where that number would be so big that a solver's tolerances hide what it multiplies.
/// O(size of the program + sum over the no_overlaps of the square of their intervals).
[[nodiscard]] Linearised linearise(const Program& program);

}  // namespace tutti::models
