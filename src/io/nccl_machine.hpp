#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::io {

/// The content of an NCCL topology file, before conversion. Numbers of cpus and devices are indices of the
/// lists of NcclMachine. Bandwidths are GB/s in one direction.

/// Some NVLinks (or xGMI links) of a GPU that lead to the same place.
struct NcclCable {
    enum class To { Gpu, Switch, Cpu };
    To to = To::Gpu;
    std::size_t device = 0;  ///< the one with the GPU at the other end, if it leads to one
    Decimal bandwidth;       ///< of all of them together
};

struct NcclGpu {
    std::optional<std::int64_t> rank;
    std::optional<std::int64_t> number;  ///< `dev`, the number within its host
};

/// A PCI device: a bridge, or what holds GPUs.
struct NcclDevice {
    std::size_t cpu = 0;
    std::optional<std::size_t> parent;  ///< the bridge it is on; none: the CPU
    std::uint64_t bus = 0;
    Decimal bandwidth;  ///< of the link to the parent or CPU
    std::vector<NcclGpu> gpus;
    std::vector<NcclCable> cables;  ///< of its GPUs
    Decimal to_cpu;                 ///< of a chip-to-chip link; 0: there is none
};

struct NcclCpu {
    std::size_t host = 0;
    Decimal to_others;  ///< to each other CPU of its host
};

struct NcclMachine {
    std::vector<NcclCpu> cpus;
    std::vector<NcclDevice> devices;  ///< parents before children
};

/// The machine as a topology: see docs/topologies.md. Preconditions: some device has a GPU; ranks are
/// distinct.
[[nodiscard]] TopologyParts topology_of(NcclMachine machine);

}  // namespace tutti::io
