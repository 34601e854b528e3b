#pragma once

#include "compile/trace_lowering.hpp"
#include "core/topology.hpp"
#include "plan/plan_verdict.hpp"

#include <optional>

namespace tutti::app {

/// A plan that was verified, and its verdict.
struct CompiledTrace {
    compile::TraceResult result{};
    plan::PlanVerdict verdict{};
    std::optional<std::int64_t> time{};  ///< ticks, where a network is given
    double compile_seconds = 0, verify_seconds = 0;
};

/// Where plans are timed, to take the fastest.
struct TraceNetwork {
    const Topology& topology;
    Bytes bytes{};  ///< of the call; 0 where the topology is in abstract ticks
};

/// An execution plan that was verified, and its verdict.
struct CompiledExecution {
    compile::TraceExecution result{};
    plan::PlanVerdict verdict{};
    std::optional<std::int64_t> time{};  ///< ticks
    double compile_seconds = 0, verify_seconds = 0;
};

/// Compiles a program and verifies the plan: no other plan leaves here. Throws InputError as compile_trace
/// does; InternalError, with a trace file that reproduces it, if no plan is accepted. Precondition: the trace
/// ends with what its collective wants.
[[nodiscard]] CompiledTrace compile_verified(const lang::Trace& trace, const compile::TraceOptions& options,
                                             const TraceNetwork* network = nullptr);
/// The same of a program that nobody looks at meanwhile, in less memory.
[[nodiscard]] CompiledTrace compile_verified(lang::Trace& trace, const compile::TraceOptions& options,
                                             const TraceNetwork* network = nullptr);
/// The same for an execution plan of MSCCL++, verified under its executor's limits.
[[nodiscard]] CompiledExecution compile_verified_execution(const lang::Trace& trace,
                                                           const compile::TraceOptions& options,
                                                           const TraceNetwork* network = nullptr);

}  // namespace tutti::app
