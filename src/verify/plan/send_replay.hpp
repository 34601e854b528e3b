#pragma once

#include "plan/send_program.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/send_flights.hpp"

#include <span>

namespace tutti::verify {

/// Replays the flights in order of time: what each send carries (`not-held` if nothing), how it changes the
/// destination's value (`value` if a contribution is counted twice), and what every node has in the end
/// (`value`). Warns of chunks sent to nodes that already have them (`redundant`). Sends with nonexistent
/// nodes carry nothing. False, with a `too-large` violation, if the sums take too much memory.
bool replay(const plan::SendProgram& plan, std::span<const Flight> flights, Findings& violations,
            Findings& warnings);

}  // namespace tutti::verify
