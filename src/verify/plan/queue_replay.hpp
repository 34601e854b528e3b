#pragma once

#include "core/collective.hpp"
#include "plan/tacos_plan.hpp"
#include "verify/plan/findings.hpp"

#include <cstdint>
#include <optional>

namespace tutti::verify {

/// The initial holders of the chunks of a plan of queues: TACOS numbers those of an all-gather round by
/// round.
struct QueueStart {
    CollectiveKind goal = CollectiveKind::AllGather;  ///< AllGather or Broadcast
    std::int32_t root = 0;
    [[nodiscard]] std::int32_t holder(std::int64_t chunk, std::int32_t nodes) const {
        return goal == CollectiveKind::Broadcast ? root : static_cast<std::int32_t>(chunk % nodes);
    }
};

/// Replays the links' queues: a link sends its chunks in order, each when its source has it and the link is
/// free. Reports queues that stop (`deadlock`, or `not-held` where no link ever brings the chunk) and chunks
/// that a node lacks in the end (`value`). Returns when the last chunk arrives, in picoseconds.
std::int64_t replay_queues(const plan::TacosPlan& plan, const QueueStart& start, Findings& violations,
                           Findings& warnings);

}  // namespace tutti::verify
