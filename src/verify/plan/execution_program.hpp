#pragma once

#include "core/collective.hpp"
#include "plan/execution_plan.hpp"
#include "verify/plan/execution_layout.hpp"
#include "verify/plan/execution_order.hpp"
#include "verify/plan/execution_steps.hpp"
#include "verify/plan/findings.hpp"

#include <cstdint>
#include <optional>

namespace tutti::verify {

/// An execution plan as a program: every name resolved, in-place aliases too, and every order between memory
/// accesses that it enforces.
struct ExecutionProgram {
    ExecutionSteps steps{};
    OrderedExecution ordered{};
};

/// Collects the findings of a lowering.
struct ExecutionFindings {
    Findings& violations;
    /// Violations that do not prevent lowering; reported after those found in the program.
    Findings& later;
    Findings& warnings;
    bool too_large = false;  ///< the plan was not judged
};

/// Nothing if the structure is wrong or the plan hangs; `findings` say why. `root`: for gather and scatter,
/// the rank with the in-place alias. The plan must outlive the result. Near-linear in the operands and, where
/// operations touch packets or share ranges without a nop between them, in their places.
[[nodiscard]] std::optional<ExecutionProgram> program_of(const plan::ExecutionPlan& plan,
                                                         const plan::CallSizes& sizes,
                                                         std::optional<Rank> root,
                                                         ExecutionFindings& findings);

}  // namespace tutti::verify
