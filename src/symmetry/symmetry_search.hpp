#pragma once

#include "core/instance.hpp"
#include "symmetry/group_action.hpp"

#include <optional>
#include <vector>

namespace tutti::symmetry {

/// Generators of a large abelian group that acts freely on the NPUs, keeps all links with their times, and
/// takes demands to demands. Looks for shifts of a digit of the NPU's number: rings, tori, hypercubes, fully
/// connected networks, their products and circulants in their usual numbering. Empty: none was found, or
/// there are switches. About O(links) for each shift that holds; those that do not mostly fail at once.
[[nodiscard]] std::vector<Generator> digit_shifts(const Instance& instance);

/// The shift along a cycle through all NPUs whose links are there both ways and all alike, for grids in
/// row-major numbering with an even number of NPUs. It keeps the links of the cycle only.
[[nodiscard]] std::optional<Generator> ring_through_grid(const Topology& topology);

}  // namespace tutti::symmetry
