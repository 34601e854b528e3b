#pragma once

#include "core/topology.hpp"
#include "io/generator_json.hpp"
#include "io/json_view.hpp"

namespace tutti::io {

/// The topology that a `topology` object describes: lists of NPUs, switches and links, or {"generate": …};
/// then the edits `remove` and `slow`. instances/topologies.md has the fields. Throws InputError that names
/// the path; what it returns passes Topology's constructor.
[[nodiscard]] TopologyParts read_topology(const JsonView& topology);

/// The same topology as a list of links. Reading it gives the same parts again.
[[nodiscard]] Json write_topology(const Topology& topology);

}  // namespace tutti::io
