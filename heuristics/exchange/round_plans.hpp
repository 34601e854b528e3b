#pragma once

#include "heuristics/exchange/rounds.hpp"

#include <span>
#include <vector>

namespace tutti::heuristics {

/// Positions of members as numbers in a mixed radix system, and what is done with each digit.
struct RoundDigits {
    std::span<const std::size_t> radices;  ///< lowest digit first
    std::span<const std::size_t> turns;    ///< the order of the rounds, a permutation of the digits
    std::size_t folded = 0;                ///< so many of the first turns have a keeper
    std::size_t keeper =
        0;  ///< who keeps the sums: its digits are those of the folded turns, first one lowest
};

/// Rounds in which members meet whose positions differ in one digit. In a folded turn only one of those who
/// meet, the keeper, gets what the others have; the others rest until the keeper hands them the sum of all,
/// after the last round. The members beyond the product of the radices hand what they have to one of the
/// others before the first round, and get the sum after the last. Precondition: the product is at most the
/// number of members, and at least half of it.
[[nodiscard]] RoundPlan digit_rounds(std::span<const NodeId> order, const RoundDigits& digits);

/// Radices to try for a number of members: recursive doubling is all twos, all pairs one number.
[[nodiscard]] std::vector<std::size_t> doubling_radices(std::size_t members);
[[nodiscard]] std::vector<std::vector<std::size_t>> multiplying_radices(std::size_t members);

}  // namespace tutti::heuristics
