#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <span>

namespace tutti::generators {

inline constexpr std::uint64_t kMaxLevels = 24;

/// The k-ary n-tree: k^n NPUs under n levels of k^(n-1) switches each, with full bisection bandwidth.
/// k >= 2, 1 <= n <= kMaxLevels. `wires`: one for all levels, or one for each; level 0 joins NPUs to leaf
/// switches, level l switches of level l-1 to those of level l. Switches are numbered level by level, leaves
/// first. Links: NPU by NPU to its leaf, then level by level, lower switch by lower switch, upper switch by
/// upper switch; each both ways.
[[nodiscard]] TopologyParts fat_tree(std::uint64_t k, std::uint64_t n, std::span<const Wire> wires,
                                     const SwitchRule& rule = {});

}  // namespace tutti::generators
