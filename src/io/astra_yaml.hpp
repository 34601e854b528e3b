#pragma once

#include "core/topology.hpp"
#include "io/source.hpp"

namespace tutti::io {

/// The network that a `network.yml` of ASTRA-sim's analytical backends describes: per dimension a building
/// block (Ring, FullyConnected, Switch), a number of NPUs, a bandwidth and a latency. docs/topologies.md says
/// how it maps. Throws InputError with the file and line:column; what it returns passes Topology's
/// constructor. O(nodes + links).
[[nodiscard]] TopologyParts read_astra_network(Source& source);

}  // namespace tutti::io
