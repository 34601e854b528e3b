#pragma once

#include "heuristics/exchange/rounds.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// Rounds in which members meet whose positions differ in one digit, in the mixed radix system of `radices`,
/// lowest digit first. The members beyond the product of the radices hand what they have to one of the others
/// before the first round, and get the sum after the last. Precondition: the product is at most the number of
/// members, and at least half of it. `digits`: the order of the rounds, a permutation of the digits.
[[nodiscard]] RoundPlan digit_rounds(std::span<const NodeId> order, std::span<const std::size_t> radices,
                                     std::span<const std::size_t> digits);

/// Radices to try for a number of members: recursive doubling is all twos, all pairs one number.
[[nodiscard]] std::vector<std::size_t> doubling_radices(std::size_t members);
[[nodiscard]] std::vector<std::vector<std::size_t>> multiplying_radices(std::size_t members);

}  // namespace tutti::heuristics
