#pragma once

#include "core/topology.hpp"
#include "io/source.hpp"

#include <string>
#include <string_view>

namespace tutti::io {

/// The formats of topology files, recognised by content. docs/topologies.md describes them.
enum class TopologyFormat {
    Ours,     ///< JSON: an instance, a topology, or what stands behind "generate"
    Astra,    ///< a network.yml of ASTRA-sim's analytical backends
    Nccl,     ///< the XML that NCCL writes where NCCL_TOPO_DUMP_FILE says
    Unknown,  ///< none of these
};

/// The format, determined by a file's first bytes and never by its name.
[[nodiscard]] TopologyFormat topology_format(std::string_view beginning);

/// The topology in a file of any supported format. `what` is a path, "-" for standard input, or JSON text (it
/// starts with a brace). Throws InputError with the file and the place in it.
[[nodiscard]] Topology read_topology_file(const std::string& what);

/// The same for an open source.
[[nodiscard]] Topology read_topology_file(Source& source);

}  // namespace tutti::io
