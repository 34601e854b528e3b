#pragma once

#include <vector>

namespace tutti::bounds {

/// How the row player of a matrix game should mix its rows, so that the least of the columns is as large as
/// possible: shares >= 0 of sum 1. payoff[column][row] >= 0, every column with a positive entry. Rounded, as
/// all floating point here: who uses it must judge what comes of it by other means. Dense simplex method.
[[nodiscard]] std::vector<double> best_mix(const std::vector<std::vector<double>>& payoff);

/// Prices >= 0 of the rows of the program: maximise the sum of x >= 0 with sum over columns of
/// entry[column][row] * x[column] <= room[row] for every row. In proportion only, and rounded. Preconditions:
/// room >= 0, some entry is positive, and x is bounded.
[[nodiscard]] std::vector<double> row_prices(const std::vector<std::vector<double>>& entry,
                                             const std::vector<double>& room);

}  // namespace tutti::bounds
