#pragma once

#include "plan/program.hpp"
#include "verify/plan/execution_progress.hpp"
#include "verify/plan/execution_steps.hpp"
#include "verify/plan/place_index.hpp"

#include <cstdint>
#include <vector>

namespace tutti::verify {

/// The steps as ops of a program, with the order of memory accesses that they enforce.
struct OrderedExecution {
    plan::Program program{};
    std::vector<std::uint32_t> step_of{};  ///< of each op
};

/// The number of ops: one per step, or one per place where threads are ordered place by place.
[[nodiscard]] std::uint64_t pieces_of(const ExecutionSteps& steps);

/// `places` is of steps.program. Precondition: the steps terminate (`progress`).
[[nodiscard]] OrderedExecution order(const ExecutionSteps& steps, const PlaceIndex& places,
                                     const ExecutionProgress& progress);

}  // namespace tutti::verify
