#pragma once

#include "plan/program.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/msccl_layout.hpp"
#include "verify/plan/msccl_structure.hpp"

#include <optional>

namespace tutti::verify {

/// What a program of a plan is for.
enum class ProgramUse {
    Keep,  ///< it has the places of its ops, and edges with their kinds
    /// Only for whether it is right: it has neither, and nops are no ops; what they wait for, the step after
    /// them does. No <copy> is executed.
    Judge
};
/// The plan as a program for one call mode: op n is step n of the structure; <copy> elements, where they are
/// executed, follow.
/// Nothing if a step leaves its buffers (`range`), or overlaps itself (`overlap`).
[[nodiscard]] std::optional<plan::Program> program_of(const MscclStructure& structure,
                                                      const MscclLayout& layout, const PlanReading& reading,
                                                      ProgramUse use, Findings& violations);

/// Chunks that all steps together move: what memory and time are proportional to.
[[nodiscard]] std::int64_t chunks_moved(const MscclStructure& structure);

}  // namespace tutti::verify
