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

/// The place that an error about factor i names.
using PlaceOfFactor = std::function<std::string(std::size_t)>;
[[nodiscard]] std::string factor_place(std::size_t factor);

inline constexpr std::size_t kMaxFactors = 32;

/// The Cartesian product of 1 to kMaxFactors factors. NPUs are numbered row by row: the last factor varies
/// fastest. Links are listed NPU by NPU, factor by factor, cable by cable (see the .cpp for which end lists a
/// cable), the two directions side by side. O(nodes * factors + links).
[[nodiscard]] TopologyParts product(std::span<const Factor> factors,
                                    const PlaceOfFactor& place = factor_place);

}  // namespace tutti::generators
