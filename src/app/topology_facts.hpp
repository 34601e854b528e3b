#pragma once

#include "core/topology.hpp"

#include <optional>
#include <string>
#include <utility>

namespace tutti::app {

/// A summary of a topology.
struct TopologyFacts {
    std::pair<std::size_t, std::size_t> out_degree, in_degree;  ///< least and most links at an NPU
    std::optional<std::uint32_t>
        diameter;             ///< most hops between two NPUs; none if not connected or too large to tell
    std::string unreachable;  ///< "NPU 3 cannot be reached from NPU 0"; empty where all can be
};

/// Two searches for connectivity, O(links); one per NPU for the diameter, unless that would take more than a
/// few seconds.
[[nodiscard]] TopologyFacts facts_of(const Topology& topology);

}  // namespace tutti::app
