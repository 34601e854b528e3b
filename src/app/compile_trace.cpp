#include "app/compile_trace.hpp"

#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/chunk_trace.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <chrono>

namespace tutti::app {

CompiledTrace compile_verified(const lang::Trace& trace, const compile::TraceOptions& options) {
    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    CompiledTrace made;
    const auto judge = [&](const compile::TraceResult& candidate) {
        const auto began = Clock::now();
        verify::PlanReading reading;
        reading.root = candidate.root;
        reading.condition = candidate.condition;
        reading.strict_dependencies = true;
        made.verdict = verify::verify(candidate.plan, reading);
        made.verify_seconds += seconds_since(began);
        return made.verdict.verdict;
    };
    const auto start = Clock::now();
    try {
        made.result = compile::compile_trace(trace, options, judge);
    } catch (const InternalError& error) {
        const std::string first =
            made.verdict.violations.empty() ? "" : ": " + made.verdict.violations.front().message;
        io::write_file("tutti-bug.chunks", io::chunk_trace_text(trace));
        throw InternalError(fmt::format("{}{}; the program is in tutti-bug.chunks", error.what(), first));
    }
    made.compile_seconds = seconds_since(start) - made.verify_seconds;
    (void)judge(made.result);  // the last candidate need not have been the best
    return made;
}

}  // namespace tutti::app
