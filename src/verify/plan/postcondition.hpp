#pragma once

#include "core/collective.hpp"
#include "plan/condition.hpp"
#include "verify/plan/sums.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::verify {

/// The required outputs, in places (Program::places_per_chunk of them are a chunk).
struct Postcondition {
    CollectiveKind goal = CollectiveKind::Custom;
    std::int32_t ranks = 0;
    std::int64_t block = 0;  ///< places of one rank's share, where the goal has shares
    Rank root{};
    const plan::Condition* condition = nullptr;  ///< rules where given
    std::int64_t places_per_chunk = 1;
    std::vector<Rank> senders{};  ///< of sendrecv: whose input each rank gets; empty: that of the rank before

    [[nodiscard]] bool demands_anything() const {
        return condition != nullptr || goal != CollectiveKind::Custom;
    }
    /// Whether any place of that rank's output is constrained.
    [[nodiscard]] bool demands_of(Rank rank) const;
    /// The sum that a place of that rank's output must hold; nothing: it is unconstrained.
    [[nodiscard]] std::optional<SumId> expected(Rank rank, std::int64_t place, Sums& sums) const;
};

}  // namespace tutti::verify
