#pragma once

#include "bounds/traffic.hpp"

#include <cstdint>
#include <vector>

namespace tutti::bounds {

/// Links that look alike: same times, and ends that look alike from everywhere (colour refinement), in either
/// direction. Symmetric links are always of one class.
struct LinkClasses {
    std::vector<std::uint32_t> of;  ///< per link
    std::uint32_t count = 0;
    friend bool operator==(const LinkClasses&, const LinkClasses&) = default;
};

/// What nodes are told apart by, to begin with.
enum class Looks { Network, NetworkAndDemands };

/// At most `most` classes; where there are more, links are told apart by their own times and the kinds of
/// their ends only. O(rounds * links log links).
[[nodiscard]] LinkClasses link_classes(const Traffic& traffic, Looks looks, std::size_t most);

}  // namespace tutti::bounds
