#pragma once

#include "compile/trace_lowering.hpp"
#include "plan/plan_verdict.hpp"

namespace tutti::app {

/// A plan that was verified, and its verdict.
struct CompiledTrace {
    compile::TraceResult result{};
    plan::PlanVerdict verdict{};
    double compile_seconds = 0, verify_seconds = 0;
};

/// Compiles a program and verifies the plan: no other plan leaves here. Throws InputError as compile_trace
/// does; InternalError, with a trace file that reproduces it, if no plan is accepted. Precondition: the trace
/// ends with what its collective wants.
[[nodiscard]] CompiledTrace compile_verified(const lang::Trace& trace, const compile::TraceOptions& options);

}  // namespace tutti::app
