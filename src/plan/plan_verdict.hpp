#pragma once

#include "plan/place.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::plan {

enum class PlanClass : std::uint8_t { Valid, ValidIfBuffered, StructureOnly, Invalid, Malformed };
/// "valid-if-buffered" and the like.
[[nodiscard]] std::string_view name_of(PlanClass verdict);

/// One broken rule or one warning. Codes are listed in src/verify/plan/README.md; they are stable.
struct PlanFinding {
    std::string code;
    std::string message;
    Place place{};
    std::vector<Place> others{};  ///< the conflicting step; the rest of a wait cycle, in order
};

/// The least FIFO capacity with which the plan terminates, in messages per connection.
struct FifoNeed {
    std::int64_t chunks = 1;    ///< with one message per chunk (large data)
    std::int64_t steps = 1;     ///< with one message per step (small data)
    std::int64_t capacity = 2;  ///< what the plan's protocol offers
};

struct PlanVerdict {
    PlanClass verdict = PlanClass::Valid;
    std::string format{};        ///< "msccl-xml", "mscclpp-json", …
    std::string name{};          ///< what the file calls itself
    std::string collective{};    ///< what it was judged as
    std::string mode{};          ///< "in-place", "out-of-place", "both"
    std::optional<Rank> root{};  ///< given, or found
    std::int32_t ranks = 0;
    std::uint64_t steps = 0;
    std::optional<FifoNeed> fifo{};
    std::string own_cost{};  ///< in the format's own model, in words: "3 steps, 4 rounds"; empty: it has none
    std::vector<PlanFinding> violations{};  ///< the first ones, the primary reason first
    std::uint64_t violation_count = 0;
    std::vector<PlanFinding> warnings{};
    std::uint64_t warning_count = 0;

    /// No violation was found; where the file names no postcondition, only the structure was checked.
    [[nodiscard]] bool acceptable() const {
        return verdict == PlanClass::Valid || verdict == PlanClass::ValidIfBuffered ||
               verdict == PlanClass::StructureOnly;
    }
};

}  // namespace tutti::plan
