#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace tutti::generators {

/// How the NPUs along one dimension are joined.
enum class Shape { Line, Ring, OneWayRing, FullyConnected };

/// One dimension of a product.
struct Factor {
    Shape shape = Shape::Line;
    std::uint64_t size = 1;
    Wire wire;
};

/// What an error about factor i is said of.
using PlaceOfFactor = std::function<std::string(std::size_t)>;
[[nodiscard]] std::string factor_place(std::size_t factor);

inline constexpr std::size_t kMaxFactors = 32;

/// The Cartesian product of 1 to kMaxFactors factors. NPUs are numbered row by row: the last factor varies
/// fastest. Links: NPU by NPU, for each factor by factor, for each the links that it opens (see the .cpp), a
/// pair of opposite directions side by side. O(nodes * factors + links).
[[nodiscard]] TopologyParts product(std::span<const Factor> factors,
                                    const PlaceOfFactor& place = factor_place);

}  // namespace tutti::generators
