#pragma once

#include "core/collective.hpp"
#include "plan/ids.hpp"

#include <cstdint>
#include <vector>

namespace tutti::plan {

/// A link and the chunks that it sends, one after the other.
struct TacosLink {
    PlanNode src{}, dst{};
    std::int64_t alpha = 0, beta = 0;  ///< a chunk takes their sum, in picoseconds
    std::vector<std::int64_t> queue{};
    friend bool operator==(const TacosLink&, const TacosLink&) = default;
};

/// A schedule of TACOS, as in its CSV (docs/step-formats.md). The initial holders of chunks follow from the
/// collective, which the file does not name.
struct TacosPlan {
    std::int32_t nodes = 0;
    std::int64_t chunks = 0;  ///< 0, 1, … below this
    std::vector<TacosLink> links{};
    friend bool operator==(const TacosPlan&, const TacosPlan&) = default;
};

/// Where the chunks of a plan of queues start: TACOS numbers those of an all-gather round by round.
struct QueueStart {
    CollectiveKind goal = CollectiveKind::AllGather;
    PlanNode root{};  ///< of a broadcast

    /// Whether it is known at all.
    [[nodiscard]] bool known() const {
        return goal == CollectiveKind::AllGather || goal == CollectiveKind::Broadcast;
    }
    /// Precondition: known().
    [[nodiscard]] PlanNode holder(std::int64_t chunk, std::int32_t nodes) const {
        return goal == CollectiveKind::Broadcast ? root : PlanNode(static_cast<std::size_t>(chunk % nodes));
    }
};

}  // namespace tutti::plan
