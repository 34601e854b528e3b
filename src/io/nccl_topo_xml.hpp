#pragma once

#include "core/topology.hpp"
#include "io/source.hpp"

namespace tutti::io {

/// The machine that a topology file of NCCL or RCCL describes (what NCCL_TOPO_DUMP_FILE writes and
/// NCCL_TOPO_FILE reads): GPUs are NPUs in order of rank; NVSwitch, PCIe switches and CPUs are switches that
/// cut through. docs/topologies.md says how it maps and what is lost. Throws InputError with the file and
/// line:column; what it returns passes Topology's constructor.
[[nodiscard]] TopologyParts read_nccl_topology(Source& source);

}  // namespace tutti::io
