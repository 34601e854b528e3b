#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// What all generators share. A generator is a pure function from a few numbers to TopologyParts. Its numbers
/// may come from a hostile file, so it works out how large the result will be, in arithmetic that cannot
/// wrap, before it builds anything. Errors are InputErrors whose place is relative to the object that holds
/// the numbers ("/dims/1").
namespace tutti::generators {

/// Saturating products and sums of sizes.
[[nodiscard]] std::uint64_t capped_product(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b);

/// Throws InputError at `place` unless least <= value <= most.
void expect_between(std::uint64_t value, std::uint64_t least, std::uint64_t most, const std::string& place);
/// Throws InputError at `place` when a topology may not have that many nodes or links.
void expect_fits(std::uint64_t nodes, std::uint64_t links, const std::string& place);

/// Throws InputError at `place` unless there is one wire for all dimensions (or levels), or one for each.
void expect_wires(std::span<const Wire> wires, std::size_t dimensions, const std::string& place);
[[nodiscard]] inline const Wire& wire_of(std::span<const Wire> wires, std::size_t dimension) {
    return wires.size() == 1 ? wires[0] : wires[dimension];
}

/// Lists a -> b and, right behind it, b -> a.
void add_pair(std::vector<Link>& links, std::size_t a, std::size_t b, const Wire& wire);

}  // namespace tutti::generators
