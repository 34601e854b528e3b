#pragma once

#include "plan/program.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/msccl_layout.hpp"
#include "verify/plan/msccl_structure.hpp"

#include <optional>

namespace tutti::verify {

/// The plan as a program for one call mode: op n is step n of the structure; <copy> elements, where they are
/// executed, follow. A complete one has the places of its ops and all edges; one without is for who has the
/// structure, too, and executes no <copy> (Program::op_places, chains_in_order).
/// Nothing if a step leaves its buffers (`range`), or overlaps itself (`overlap`).
[[nodiscard]] std::optional<plan::Program> program_of(const MscclStructure& structure,
                                                      const MscclLayout& layout, const PlanReading& reading,
                                                      bool complete, Findings& violations);

/// Chunks that all steps together move: what memory and time are proportional to.
[[nodiscard]] std::int64_t chunks_moved(const MscclStructure& structure);

}  // namespace tutti::verify
