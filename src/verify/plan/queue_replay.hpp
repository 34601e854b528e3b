#pragma once

#include "plan/tacos_plan.hpp"
#include "verify/plan/findings.hpp"

#include <cstdint>

namespace tutti::verify {

/// Replays the links' queues: a link sends its chunks in order, each when its source has it and the link is
/// free. Reports queues that stop (`deadlock`, or `not-held` where no link ever brings the chunk) and chunks
/// that a node lacks in the end (`value`). Returns when the last chunk arrives, in picoseconds.
std::int64_t replay_queues(const plan::TacosPlan& plan, const plan::QueueStart& start, Findings& violations,
                           Findings& warnings);

}  // namespace tutti::verify
