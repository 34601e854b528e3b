#pragma once

#include "run/element_type.hpp"
#include "run/executable.hpp"

namespace tutti::run {

/// The same results with fewer passes over memory: for workers that reach the memory of all ranks. Sums of
/// sums become one step with many sources, copies of a result are further targets of the step that makes it,
/// what a copy holds is read where it comes from, and nothing is written that is overwritten unread. Tasks,
/// streams and waits are those of what is left: a task waits for whoever wrote what it reads, and for readers
/// of what it overwrites.
///
/// Every element is still the same expression in the same order, so results have the same bits. Of half types
/// each step rounds, so their sums stay as they are. Near-linear in the operands.
[[nodiscard]] Executable fused(const Executable& executable, ElementType type);

/// For workers that each do the tasks of their own ranks: fused, unless the rank that has most to do would
/// then have more than before (the sums of a reduce would all be made by its root).
[[nodiscard]] Executable fused_if_balanced(const Executable& executable, ElementType type);

}  // namespace tutti::run
