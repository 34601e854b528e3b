#pragma once

#include "plan/execution_plan.hpp"
#include "verify/plan/execution_steps.hpp"
#include "verify/plan/place_index.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::verify {

struct ExecutionProgress {
    /// `deadlock`: some interleaving hangs; `semaphore`: undecided. Nothing: all terminate.
    std::optional<plan::PlanFinding> hang{};
    /// From one run that terminated: the first step that wrote each packet place, by the place's number;
    /// kNone where none did.
    std::vector<std::uint32_t> first_writer{};
    static constexpr std::uint32_t kNone = UINT32_MAX;
};

/// Whether every interleaving of the steps terminates.
[[nodiscard]] ExecutionProgress progress_of(const plan::ExecutionPlan& plan, const ExecutionSteps& steps,
                                            const PlaceIndex& places);

}  // namespace tutti::verify
