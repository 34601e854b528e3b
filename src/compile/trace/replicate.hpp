#pragma once

#include "compile/trace_lowering.hpp"

#include <vector>

namespace tutti::compile::trace {

/// The plan for the program's instances, in the ways that may be right, the best first: the judge decides.
/// One instance: the plan as it is.
[[nodiscard]] std::vector<TraceResult> replicated(const plan::MscclPlan& plan, const TraceResult& frame,
                                                  const lang::Trace& program);

}  // namespace tutti::compile::trace
