#pragma once

#include "core/instance.hpp"
#include "symmetry/group_action.hpp"

#include <optional>
#include <vector>

namespace tutti::symmetry {

/// Generators of a large abelian group that acts freely on the NPUs, preserves all links with their times,
/// and maps demands to demands. Searches for shifts of a digit of the NPU's number: rings, tori, hypercubes,
/// fully connected networks, their products and circulants in their usual numbering. Empty: none was found,
/// or there are switches. About O(links) for each valid shift; most others fail at one of the first nodes.
[[nodiscard]] std::vector<Generator> digit_shifts(const Instance& instance);

/// The shift along a Hamiltonian cycle whose links exist in both directions and are all equal, for grids in
/// row-major numbering with an even number of NPUs. It preserves the links of the cycle only.
[[nodiscard]] std::optional<Generator> ring_through_grid(const Topology& topology);

}  // namespace tutti::symmetry
