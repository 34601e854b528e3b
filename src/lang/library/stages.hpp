#pragma once

#include "lang/library/butterfly.hpp"

#include <string>

namespace tutti::lang::library {

/// How a stage of a hierarchical algorithm is done among its members.
enum class Style : std::uint8_t { Ring, Pairs, Halving };
inline constexpr std::string_view kStyles = "0: ring, 1: all pairs, 2: halving and doubling";

/// Why not among so many members; empty: it can.
[[nodiscard]] std::string why_not(Style style, std::uint32_t members);

/// Member i ends with the sum of everybody's share i, in `buffer`, which every member may change.
void sum_shares(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                Style style, std::uint32_t buffer, const Directive& on = {});
/// Share i of member i goes to the same place of everybody's `buffer`.
void spread_shares(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                   Style style, std::uint32_t buffer, const Directive& on = {});

}  // namespace tutti::lang::library
