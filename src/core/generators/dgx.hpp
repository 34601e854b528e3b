#pragma once

#include "core/topology.hpp"

namespace tutti::generators {

/// One NVLink of generations 2 to 4 (V100, A100, H100): 25 GB/s each way; latency 0, because NVIDIA publishes
/// none.
inline constexpr Wire kNvlink{Ticks(0), Ticks(0), Decimal{25, 0}};

/// How several NVLinks between the same two ends are represented: as separate links, or as one link as fast
/// as all of them (in abstract units its beta is divided and rounded up; in physical units its bandwidth is
/// multiplied).
enum class Bonding { Separate, Bonded };

/// The wires below are those of a single NVLink. Links: pair of ends by pair of ends in ascending order (GPU
/// by GPU, switch by switch; DGX-2's links between switches last), NVLink by NVLink; each both ways.

/// 8 V100 in the hybrid cube mesh of the DGX-1: 24 NVLinks, 6 at each GPU, between 16 pairs of GPUs.
[[nodiscard]] TopologyParts dgx1(const Wire& nvlink, Bonding bonding = Bonding::Separate);

/// 16 V100 on 2 boards of 6 NVSwitches. Each GPU has one NVLink to each switch of its board; switch i of
/// board 0 has 8 to switch i of board 1.
[[nodiscard]] TopologyParts dgx2(const Wire& nvlink, Bonding bonding = Bonding::Separate,
                                 const SwitchRule& rule = {});

/// 8 A100 on 6 NVSwitches: each GPU has 12 NVLinks, 2 to each switch.
[[nodiscard]] TopologyParts a100(const Wire& nvlink, Bonding bonding = Bonding::Separate,
                                 const SwitchRule& rule = {});

/// 8 H100 on 4 NVSwitches: each GPU has 18 NVLinks; 5, 4, 4 and 5 to the four switches.
[[nodiscard]] TopologyParts h100(const Wire& nvlink, Bonding bonding = Bonding::Separate,
                                 const SwitchRule& rule = {});

}  // namespace tutti::generators
