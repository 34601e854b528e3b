#pragma once

#include "plan/round_plan.hpp"

#include <cstdint>
#include <string>

namespace tutti::io {

/// The messages of a call in GOAL's text form (LogGOPSim, ATLAHS): what a rank does in a round requires that
/// its round before is over. `count` is the number of bytes of a block (RoundPlan::block_chunks).
/// Precondition: the plan is valid.
[[nodiscard]] std::string goal_text(const plan::RoundPlan& plan, std::uint64_t count);

}  // namespace tutti::io
