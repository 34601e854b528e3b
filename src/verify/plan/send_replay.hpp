#pragma once

#include "plan/send_program.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/send_flights.hpp"

#include <span>

namespace tutti::verify {

/// Plays the flights in order of time: what each send carries (`not-held` if nothing), what it makes of the
/// destination's value (`value` if a contribution is counted twice), and what every node has in the end
/// (`value`). Warns of chunks sent where they were already (`redundant`). Sends that name no node there is
/// carry nothing. False, with a `too-large` violation, if the sums take too much memory.
bool replay(const plan::SendProgram& plan, std::span<const Flight> flights, Findings& violations,
            Findings& warnings);

}  // namespace tutti::verify
