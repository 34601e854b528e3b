#pragma once

#include "verify/plan/races.hpp"

namespace tutti::verify {

/// Races of moves that copy packets without waiting for them (plan::Move::raw_packets). Whoever writes a
/// packet writes the same value, so such a copy is right if one write of the packet happens before it; if
/// none does, the copy may carry an old flag, and its receiver waits for ever. Always live; one for each
/// copying op. Precondition: the graph has no cycle.
[[nodiscard]] std::vector<Race> find_raw_packet_races(const plan::Program& program, const ProgramGraph& graph,
                                                      const PlaceIndex& places);

}  // namespace tutti::verify
